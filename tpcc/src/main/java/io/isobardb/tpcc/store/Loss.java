package io.isobardb.tpcc.store;

/** How many acknowledged writes a failure may take, from the least to the most. */
public enum Loss {
  /** None. */
  NOTHING("loses nothing"),
  /** Those since the last background sync, which is at most that old when it begins. */
  LAST_INTERVAL("may lose the last " + StoreSpec.LOG_SYNC_MILLIS + " ms"),
  /** Those that the operating system has not written yet. It decides when, often after 30 s. */
  UNSYNCED("may lose what the system has not written yet, without a bound"),
  /** All: nothing orders the pages of the file, so it may be unreadable. */
  STORE("may lose the whole file");

  private final String words;

  Loss(String words) {
    this.words = words;
  }

  /** The verb phrase of reports: "loses nothing". */
  public String words() {
    return words;
  }
}
