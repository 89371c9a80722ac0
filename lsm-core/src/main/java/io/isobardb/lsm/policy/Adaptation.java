package io.isobardb.lsm.policy;

/** Whether trees get other shapes while they are used otherwise. */
public enum Adaptation {
  /** They keep those that they have. */
  OFF,
  /** It is decided what shapes they would get, and nothing is changed. */
  OBSERVE,
  /** They get them. */
  ON
}
