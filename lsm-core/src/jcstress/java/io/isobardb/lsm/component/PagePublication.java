package io.isobardb.lsm.component;

import io.isobardb.memory.page.Memory;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** What was written off the heap before a release is there after the acquire that saw it. */
@JCStressTest
@Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "neither")
@Outcome(id = "0, 1", expect = Expect.ACCEPTABLE, desc = "contents seen early")
@Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "both")
@Outcome(id = "1, 0", expect = Expect.FORBIDDEN, desc = "a half-written page")
@State
public class PagePublication {
  private static final int BYTES = 128;
  private static final int PLACES = 1 << 18;
  private static final Memory MEMORY = new Memory(ByteBuffer.allocateDirect(BYTES * PLACES));
  private static final AtomicInteger NEXT = new AtomicInteger();

  private final int base = (NEXT.getAndIncrement() & PLACES - 1) * BYTES;

  public PagePublication() {
    MEMORY.zero(base, BYTES);
  }

  @Actor
  public void writer() {
    MEMORY.putLong(base, 7);
    MEMORY.putLong(base + 64, 7);
    MEMORY.putIntRelease(base + 100, 1);
  }

  @Actor
  public void reader(II_Result result) {
    result.r1 = MEMORY.getIntAcquire(base + 100);
    result.r2 = MEMORY.getLong(base + 64) == 7 && MEMORY.getLong(base) == 7 ? 1 : 0;
  }
}
