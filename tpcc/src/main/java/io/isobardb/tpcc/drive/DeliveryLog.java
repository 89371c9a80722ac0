package io.isobardb.tpcc.drive;

import io.isobardb.tpcc.schema.Scale;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The result file of deferred deliveries (clause 2.7.2.3): one line each, in the order in which
 * they ended. Thread-safe.
 *
 * <pre>queued at [ms since 1970],ended at,warehouse,carrier,order of district 1,...,of district 10
 * </pre>
 *
 * <p>In place of an order: {@code skipped} if there was none to deliver, {@code failed} if it was
 * tried too often.
 */
public final class DeliveryLog implements AutoCloseable {
  /** In place of an order's number: the district had none to deliver. */
  public static final int SKIPPED = 0;

  /** In place of an order's number: it was tried too often. */
  public static final int FAILED = -1;

  private final Writer out;

  /** Writes a file anew. */
  public DeliveryLog(Path file) throws IOException {
    out = Files.newBufferedWriter(file);
    out.write(
        "queued,ended,warehouse,carrier,"
            + IntStream.rangeClosed(1, Scale.DISTRICTS)
                .mapToObj(d -> "d" + d)
                .collect(Collectors.joining(","))
            + "\n");
  }

  /**
   * Notes a delivery that has ended.
   *
   * @throws UncheckedIOException if it can't be written
   */
  public synchronized void add(Observer.Delivered delivery) {
    String orders =
        Arrays.stream(delivery.orders())
            .mapToObj(
                order ->
                    order == SKIPPED
                        ? "skipped"
                        : order == FAILED ? "failed" : Integer.toString(order))
            .collect(Collectors.joining(","));
    try {
      out.write(
          delivery.queuedMillis()
              + ","
              + delivery.endedMillis()
              + ","
              + delivery.warehouse()
              + ","
              + delivery.carrier()
              + ","
              + orders
              + "\n");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public synchronized void close() throws IOException {
    out.close();
  }
}
