package io.isobardb.tpcc.drive;

import io.isobardb.tpcc.work.Kind;

/** How often transactions of each kind come: cards in a deck. */
public enum Mix {
  /** The deck of 23 cards of clause 5.2.4.2. */
  SPECIFIED(1, 1),

  /**
   * 5 % that write, 95 % that do not: the variation with which "Breaking Down Memory Walls" (6.3.3)
   * shifts the load, their kinds in the proportions of the deck.
   */
  READ_MOSTLY(2, 399);

  private final int writing;
  private final int reading;

  Mix(int writing, int reading) {
    this.writing = writing;
    this.reading = reading;
  }

  /** Cards of the kind. */
  int cards(Kind kind) {
    return kind.cards() * (kind.writes() ? writing : reading);
  }
}
