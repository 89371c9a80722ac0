package io.isobardb.bench.jmh;

import io.isobardb.bench.process.ChildJvm;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.openjdk.jmh.Main;
import picocli.CommandLine.Command;
import picocli.CommandLine.Unmatched;

/** {@code jmh}: the micro-benchmarks; all arguments are JMH's own. */
@Command(
    name = "jmh",
    description = "Runs the micro-benchmarks; all arguments go to JMH.",
    footer = {
      "",
      "isobar jmh -l                           lists them",
      "isobar jmh PointBenchmark.get -prof gc  runs some and shows the garbage per operation"
    })
public final class JmhCommand implements Callable<Integer> {
  private static final long HEAP_BYTES = 1L << 30;

  @Unmatched private List<String> arguments = new ArrayList<>();

  @Override
  public Integer call() throws InterruptedException {
    // JMH's forks get the flags of the process that JMH runs in.
    ChildJvm child = new ChildJvm(Main.class).heapBytes(HEAP_BYTES).directBytes(2 * HEAP_BYTES);
    arguments.forEach(child::argument);
    return child.run(System.out::println, System.err::println);
  }
}
