import { describe, expect, it } from "vitest";
import { type ConfigurationSnapshot, configurationDigest } from "./configuration.ts";

const all = (digit: string) => `sha256:${digit.repeat(64)}`;

const plain: ConfigurationSnapshot = {
  model: "test/model",
  systemPromptDigest: all("0"),
  tools: [{ name: "read", definitionDigest: all("0") }],
  adapterIdentity: "openrouter:chat-completions:v1",
  routingIdentity: "openrouter:test/model",
  outputOptionsDigest: all("0"),
};

const odd: ConfigurationSnapshot = {
  model: "m/é\u2028\u{1f600}",
  systemPromptDigest: all("1"),
  tools: [
    { name: 'b"\\\t\u0001\u007f', definitionDigest: all("2") },
    { name: "a", definitionDigest: all("3") },
  ],
  adapterIdentity: "ad",
  routingIdentity: "ro",
  outputOptionsDigest: all("4"),
};

describe("the digest of a configuration", () => {
  it("agrees with the vectors of the specification", () => {
    expect(configurationDigest(plain)).toBe(
      "sha256:83d5da8892d877c5f94a6ff60ea8babcd1138107dcb80ed8f747372346bb5f75",
    );
    expect(configurationDigest(odd)).toBe(
      "sha256:2c874c15a9afaccf4d64f3f510d2f32d13323729f8a8d3fadc6688509ae434b4",
    );
  });

  it("does not depend on the order of keys, and does on the order of tools", () => {
    const turned = Object.fromEntries(Object.entries(odd).reverse()) as unknown as ConfigurationSnapshot;
    expect(configurationDigest(turned)).toBe(configurationDigest(odd));
    expect(configurationDigest({ ...odd, tools: odd.tools.toReversed() })).not.toBe(configurationDigest(odd));
  });

  it("refuses a text that cannot be stored", () => {
    expect(() => configurationDigest({ ...plain, model: "\ud800" })).toThrow("/model");
  });
});
