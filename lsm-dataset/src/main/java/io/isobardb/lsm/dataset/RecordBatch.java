package io.isobardb.lsm.dataset;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Writes to records of a dataset that take effect in the order they were added, all or none.
 *
 * <pre>{@code
 * RecordBatch batch = new RecordBatch();
 * batch.put(id, person).delete("bob".getBytes(UTF_8));
 * people.write(batch); // with all index entries, or not at all
 * }</pre>
 *
 * <p>Keys and records are copied when added. May be written more than once, and to any dataset.
 *
 * <p>Thread rule: one thread at a time.
 */
public final class RecordBatch {
  /**
   * A write; without a value it deletes.
   *
   * @param expires when the record does; null for the dataset's time to live
   */
  record Operation(byte[] key, byte @Nullable [] value, @Nullable Instant expires) {}

  private final List<Operation> operations = new ArrayList<>();

  /** A batch without writes. */
  public RecordBatch() {}

  /**
   * Sets a record.
   *
   * @param key its primary key
   * @param value its value
   * @return this
   */
  public RecordBatch put(byte[] key, byte[] value) {
    Objects.requireNonNull(key, "key");
    Objects.requireNonNull(value, "value");
    operations.add(new Operation(key.clone(), value.clone(), null));
    return this;
  }

  /**
   * Sets a record until an instant; see {@link Dataset#put(byte[], byte[], Instant)}.
   *
   * @param key its primary key
   * @param value its value
   * @param expires from when on it is absent
   * @return this
   */
  public RecordBatch put(byte[] key, byte[] value, Instant expires) {
    Objects.requireNonNull(key, "key");
    Objects.requireNonNull(value, "value");
    Objects.requireNonNull(expires, "expires");
    operations.add(new Operation(key.clone(), value.clone(), expires));
    return this;
  }

  /**
   * Removes a record, whether it is there or not.
   *
   * @param key its primary key
   * @return this
   */
  public RecordBatch delete(byte[] key) {
    Objects.requireNonNull(key, "key");
    operations.add(new Operation(key.clone(), null, null));
    return this;
  }

  /** {@return the number of writes in the batch} */
  public int size() {
    return operations.size();
  }

  List<Operation> operations() {
    return operations;
  }
}
