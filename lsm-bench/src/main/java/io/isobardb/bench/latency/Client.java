package io.isobardb.bench.latency;

import io.isobardb.bench.drive.Dataset;
import io.isobardb.bench.engine.Session;
import io.isobardb.bench.latency.Arrivals.Arrival;
import io.isobardb.bench.latency.Requests.Content;
import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.FailedException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Serves requests that follow from their numbers: {@link Requests}. */
final class Client implements Server {
  static final int KEY_BYTES = 16;

  /** Where the record's number is in a value, as {@link Dataset} writes it. */
  private static final int NUMBER_AT = 0;

  /** Time, real or virtual. */
  interface Timer {
    /** Nanoseconds since the run began. */
    long nanos();

    /** Waits until then, or until so short before that a wait would take too long. */
    void until(long nanos);

    /** A request begins that touches so many entries. */
    void begins(int entries);

    /** A request ends. */
    void ends();
  }

  private final Timer timer;
  private final Target target;
  private final Requests requests;
  private final Content content;
  private final Dataset data;
  private final byte[] full;
  private final byte[] into;
  private final Latencies latencies = new Latencies();
  private byte[] key = new byte[KEY_BYTES];
  private long version;
  private int seen;

  Client(Timer timer, Target target, Requests requests) {
    this.timer = timer;
    this.target = target;
    this.requests = requests;
    this.content = requests.content();
    this.data = new Dataset(KEY_BYTES, content.valueBytes().most());
    this.full = new byte[content.valueBytes().most()];
    this.into = new byte[content.valueBytes().most() + 16];
  }

  /** {@inheritDoc} Their sizes are as those of requests. */
  @Override
  public void load(long from, long to, int step) {
    for (long record = from; record < to; record += step) {
      timer.begins(1);
      requests.at(-1 - record);
      put(record);
      timer.ends();
    }
  }

  @Override
  public void serve(Arrivals arrivals) {
    Arrival arrival = new Arrival();
    while (arrivals.next(timer.nanos(), arrival)) {
      timer.until(arrival.dueNanos);
      // A wait that is too short may be left out.
      long from = Math.min(arrival.dueNanos, timer.nanos());
      requests.at(arrival.number);
      version = arrival.number;
      Kind kind = requests.kind();
      serve(kind);
      timer.ends();
      latencies.record(kind, from, timer.nanos());
    }
  }

  private void serve(Kind kind) {
    switch (kind) {
      case WRITE -> {
        timer.begins(Math.max(1, content.batch()));
        if (content.batch() > 0) {
          putBatch();
        } else {
          put(requests.record());
        }
      }
      case READ -> {
        timer.begins(1);
        get(requests.record());
      }
      case SCAN -> {
        timer.begins(content.scanEntries());
        scan(requests.record());
      }
      case UPDATE -> {
        timer.begins(2);
        long record = requests.record();
        get(record);
        put(record);
      }
    }
  }

  /** A new array, of the value's size. */
  private byte[] value(long record) {
    int bytes = requests.valueBytes();
    data.value(record, version, full);
    return Arrays.copyOf(full, bytes);
  }

  private void put(long record) {
    if (target.session().keepsArrays()) {
      key = new byte[KEY_BYTES];
    }
    data.key(record, key);
    target.session().put(0, key, value(record));
  }

  private void putBatch() {
    byte[][] keys = new byte[content.batch()][KEY_BYTES];
    byte[][] values = new byte[content.batch()][];
    for (int i = 0; i < keys.length; i++) {
      long record = requests.record();
      data.key(record, keys[i]);
      values[i] = value(record);
    }
    target.batches().write(keys, values);
  }

  private void get(long record) {
    data.key(record, key);
    int length = target.session().get(0, key, into);
    boolean right =
        length >= content.valueBytes().least()
            && length <= content.valueBytes().most()
            && (length < Dataset.HEADED_VALUE_BYTES || number(into) == record);
    if (!right) {
      throw new FailedException(
          Exit.FINDING,
          "record "
              + record
              + (length == Session.ABSENT ? " was loaded and is not there" : " has a wrong value"));
    }
  }

  private static long number(byte[] value) {
    return ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN).getLong(NUMBER_AT);
  }

  private void scan(long record) {
    data.key(record, key);
    seen = 0;
    target.session().scan(0, key, content.scanEntries(), this::visit);
    if (seen == 0) {
      throw new FailedException(Exit.FINDING, "a scan from record " + record + " found nothing");
    }
  }

  private void visit(byte[] entryKey, int keyLength, byte[] value, int valueLength) {
    seen++;
  }

  @Override
  public Latencies latencies() {
    return latencies;
  }
}
