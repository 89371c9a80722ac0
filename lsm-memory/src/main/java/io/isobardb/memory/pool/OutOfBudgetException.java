package io.isobardb.memory.pool;

/** A reservation did not fit into the budget, or the system refused it. Nothing was reserved. */
public class OutOfBudgetException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public OutOfBudgetException(String message) {
    super(message);
  }

  public OutOfBudgetException(String message, Throwable cause) {
    super(message, cause);
  }
}
