package io.isobardb.bench.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class CompilerTimeTest {
  @Test
  void threadsAreKnownByTheNamesThatTheSystemShows() {
    assertTrue(CompilerTime.isCompiler("C2 CompilerThre\n"));
    assertTrue(CompilerTime.isCompiler("C1 CompilerThre\n"));
    assertFalse(CompilerTime.isCompiler("C1\n"));
    assertFalse(CompilerTime.isCompiler("java\n"));
  }

  @Test
  void thisProcessHasCompiled() {
    long nanos = CompilerTime.nanos();
    if (Files.exists(Path.of("/proc/self/schedstat"))) {
      assertTrue(nanos > 0, "" + nanos);
      assertTrue(nanos <= ProcessCounters.now().cpuNanos());
      assertTrue(CompilerTime.nanos() >= nanos);
    } else {
      assertEquals(-1, nanos);
    }
  }
}
