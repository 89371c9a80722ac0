package io.isobardb.lsm.dataset;

/** How far an index is. */
public enum IndexState {
  /** It is being built: it is maintained, but can't be read yet. */
  BUILDING,

  /** It can be read. */
  READY,

  /** It is going to be gone. */
  DROPPING
}
