/** Something that happens once, and can be asked for and awaited. */
export class Once {
  happen: () => void = () => undefined;
  readonly happened: Promise<void>;
  hasHappened = false;

  constructor() {
    this.happened = new Promise((resolve) => {
      this.happen = () => {
        this.hasHappened = true;
        resolve();
      };
    });
  }
}
