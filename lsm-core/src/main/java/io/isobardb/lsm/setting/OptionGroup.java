package io.isobardb.lsm.setting;

/** What an option is about. Options are told in groups, in this order. */
public enum OptionGroup {
  /** How much memory a store has. */
  MEMORY("Memory"),
  /** How the store divides its memory itself. */
  TUNER("Memory tuner"),
  /** What writes survive, and how long an opening takes. */
  LOG("Durability and the log"),
  /** How a tree's data are merged on disk, and what that may use. */
  MERGES("Levels and merges"),
  /** How files are made, read and written. */
  FILES("Files"),
  /** What happens when a store is opened, and at the end of the JVM. */
  OPENING("Opening and closing"),
  /** What a tree's entries mean. */
  ENTRIES("Entries"),
  /** How a tree's entries are kept. */
  TABLES("Log and SSTables"),
  /** What is there to compare with: users don't meet it in the API. */
  EXPERIMENT("Experiments");

  private final String title;

  OptionGroup(String title) {
    this.title = title;
  }

  /** For people. */
  public String title() {
    return title;
  }
}
