package io.isobardb.tpcc.store;

import org.jspecify.annotations.Nullable;

/**
 * A transaction lost to another one: a conflict, a deadlock or a lock not had in time. It is rolled
 * back; tried again from its beginning, it may succeed.
 */
public final class ConflictException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** {@code message} says which engine and what. */
  public ConflictException(String message, @Nullable Throwable cause) {
    // Conflicts are ordinary: no stack trace is taken.
    super(message, cause, false, false);
  }
}
