package io.isobardb.memory.cache;

/** What asks for a page: decides how long it stays, and where a miss is counted. */
public enum Access {
  /** A read for a user: the page gets its turn of the clock before it may go. */
  QUERY,
  /** A long scan for a user: counts as a query's, but the page is the first to go. */
  SCAN,
  /** A merge, a flush or a check: the page is the first to go, and its use makes no page hot. */
  MERGE
}
