package io.isobardb.lsm.usercode;

import io.isobardb.lsm.error.IsobarException;
import java.util.function.Supplier;

/** What user code may throw: one of each kind that the engine could take for something else. */
enum Thrown {
  RUNTIME(IllegalStateException::new),
  OWN(() -> new IsobarException("thrown by user code")),
  CHECKED(() -> new Exception("not declared")),
  INTERRUPTED(InterruptedException::new),
  BARE(() -> new Throwable("neither exception nor error")),
  ERROR(() -> new Error("an error")),
  ASSERTION(() -> new AssertionError("an assertion")),
  LINKAGE(() -> new NoClassDefFoundError("a.b.C")),
  OVERFLOW(StackOverflowError::new),
  MEMORY(() -> new OutOfMemoryError("Requested array size exceeds VM limit")),
  SILENT(
      () ->
          new RuntimeException() {
            private static final long serialVersionUID = 1L;

            @Override
            public String getMessage() {
              throw new UnsupportedOperationException();
            }
          });

  private final Supplier<Throwable> maker;

  Thrown(Supplier<Throwable> maker) {
    this.maker = maker;
  }

  /** Throws it, as languages do that know no checked exceptions. */
  void now() {
    throw Thrown.<RuntimeException>sneaked(maker.get());
  }

  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <X extends Throwable> X sneaked(Throwable thrown) throws X {
    throw (X) thrown;
  }
}
