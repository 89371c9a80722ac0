package io.isobardb.tuner.memory;

/** How a decision was come to. */
public enum Method {
  /** A step whose length the Newton-Raphson method gave: a line through the last samples. */
  NEWTON,
  /** A step of fixed length, for want of a line that rises. */
  FIXED_STEP,
  /** No step. */
  STAY,
  /** A step back: the one before raised the cost. */
  TAKEN_BACK,
  /** The wall stood beyond a floor, after a change of the budget for instance. */
  LIMITS
}
