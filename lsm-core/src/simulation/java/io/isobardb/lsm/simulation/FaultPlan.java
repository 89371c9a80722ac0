package io.isobardb.lsm.simulation;

/** Decides for each operation of a {@link SimulatedStorage} whether and how it fails. */
@FunctionalInterface
public interface FaultPlan {
  /** Nothing fails. */
  FaultPlan NONE = (operation, file, index) -> Fault.NONE;

  /**
   * Called once before each operation, with the storage locked: it must not call back.
   *
   * @param operation what is about to be done
   * @param file to which file; for a rename, the old name; empty for the directory as a whole
   * @param index the operation's number, counted from zero over all operations of the storage
   */
  Fault faultOf(Operation operation, String file, long index);

  /** The operation with number {@code index} fails, and no other. */
  static FaultPlan once(long index, Fault fault) {
    return (operation, file, i) -> i == index ? fault : Fault.NONE;
  }

  /** All operations from number {@code index} on fail. */
  static FaultPlan from(long index, Fault fault) {
    return (operation, file, i) -> i >= index ? fault : Fault.NONE;
  }

  /** All operations of one kind fail. */
  static FaultPlan every(Operation kind, Fault fault) {
    return (operation, file, i) -> operation == kind ? fault : Fault.NONE;
  }
}
