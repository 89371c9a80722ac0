package io.isobardb.bench.latency;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.isobardb.bench.latency.Requests.Content;
import io.isobardb.bench.latency.Requests.Sizes;
import org.junit.jupiter.api.Test;

class ClientTest {
  private static final long EARLY_NANOS = 40_000;
  private static final long SERVICE_NANOS = 5_000;

  /** Ends waits a little early, as one does that can't sleep for so short a time. */
  private static final class EarlyTimer implements Client.Timer {
    private long nanos;

    @Override
    public long nanos() {
      return nanos;
    }

    @Override
    public void until(long due) {
      nanos = Math.max(nanos, due - EARLY_NANOS);
    }

    @Override
    public void begins(int entries) {
      nanos += SERVICE_NANOS;
    }

    @Override
    public void ends() {}
  }

  @Test
  void aRequestThatIsBegunBeforeItIsDueTakesWhatItTakes() {
    Content content = new Content(new Mix(0, 100, 0, 0), 10, Sizes.of(100), false, 1, 0);
    NoSession session = new NoSession(100);
    Client client =
        new Client(
            new EarlyTimer(), new Target(session, (keys, values) -> {}), new Requests(content, 1));
    client.serve(new Arrivals(Trace.steady(1_000), 100_000_000));
    var latencies = client.latencies().of(Kind.READ);
    assertEquals(100, latencies.getTotalCount());
    // The first one is due at once.
    assertEquals(SERVICE_NANOS, latencies.getMinValue(), 0.001 * SERVICE_NANOS);
    assertEquals(SERVICE_NANOS, latencies.getMaxValue(), 0.001 * SERVICE_NANOS);
  }
}
