package io.isobardb.bench.crash;

import io.isobardb.lsm.simulation.Fault;
import io.isobardb.lsm.simulation.FaultPlan;
import io.isobardb.lsm.simulation.Operation;

/** How calls of a simulated disk fail. */
enum FaultKind {
  /** One call fails. */
  EIO_ONCE(Fault.EIO, false, false),
  /** All calls fail from one on. */
  EIO_FOR_EVER(Fault.EIO, true, false),
  /** One call fails; if it is a write, after a part of it. */
  SHORT_ONCE(Fault.SHORT_THEN_EIO, false, false),
  /** One call finds no room; a sync that does so has failed for good. */
  FULL_ONCE(Fault.ENOSPC, false, false),
  /** From one call on, nothing can be created or written, until there is room again. */
  FULL_FOR_A_WHILE(Fault.ENOSPC, true, true),
  /** The same, and each write does a part of its bytes. */
  SHORT_FULL_FOR_A_WHILE(Fault.SHORT_THEN_ENOSPC, true, true),
  /** One read ends before the file does. */
  SHORT_READ_ONCE(Fault.SHORT_READ, false, false),
  /** All reads do, from one on. */
  SHORT_READ_FOR_EVER(Fault.SHORT_READ, true, false),
  /** The thread is interrupted while it calls, and again if it should forget that. */
  INTERRUPTED(Fault.INTERRUPTED, true, false),
  /** All calls from one on take long. */
  SLOW(Fault.slow(50_000_000), true, false);

  private final Fault fault;
  private final boolean goesOn;
  private final boolean allocatingOnly;

  FaultKind(Fault fault, boolean goesOn, boolean allocatingOnly) {
    this.fault = fault;
    this.goesOn = goesOn;
    this.allocatingOnly = allocatingOnly;
  }

  /** Whether the store must go on, without being opened again, once there is room. */
  boolean passes() {
    return allocatingOnly;
  }

  /** Whether nobody must notice. */
  boolean harmless() {
    return this == INTERRUPTED || this == SLOW;
  }

  /** Call number {@code at} fails, or all from it on. */
  FaultPlan plan(long at) {
    return (operation, file, index) -> {
      boolean hit = goesOn ? index >= at : index == at;
      boolean concerned =
          !allocatingOnly || operation == Operation.CREATE || operation == Operation.WRITE;
      return hit && concerned ? fault : Fault.NONE;
    };
  }
}
