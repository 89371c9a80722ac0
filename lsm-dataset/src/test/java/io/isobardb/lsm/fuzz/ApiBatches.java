package io.isobardb.lsm.fuzz;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.isobardb.lsm.Durability;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.fuzz.ApiModel.Contents;
import io.isobardb.lsm.fuzz.ApiModel.Value;
import io.isobardb.lsm.fuzz.ApiWorld.Handle;
import io.isobardb.lsm.fuzz.Demand.Refusal;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The write batch of an {@link ApiPlay}, which outlives the store that it was made by. */
final class ApiBatches {
  /** What an entry takes of the write memory besides its bytes, as the store counts it. */
  private static final int ENTRY_OVERHEAD = 32;

  private record Operation(Contents tree, byte[] key, @Nullable Value value) {}

  private record Open(WriteBatch batch, List<Operation> operations, int opening) {
    long bytes() {
      return batch.sizeBytes() + (long) ENTRY_OVERHEAD * batch.size();
    }
  }

  private final ApiWorld world;
  private final ApiTransactions transactions;
  private @Nullable Open batch;

  ApiBatches(ApiWorld world, ApiTransactions transactions) {
    this.world = world;
    this.transactions = transactions;
  }

  /** What a batch may take of the write memory, by what the store tells of the longest value. */
  private long limit() {
    return 2L * world.maxValueBytes();
  }

  /** Adds a put, or a delete. */
  void add(Handle with, byte @Nullable [] key, @Nullable Value value, boolean delete) {
    Open into = batch;
    if (into == null) {
      into = new Open(world.store().newBatch(), new ArrayList<>(), world.opening());
      batch = into;
    }
    WriteBatch to = into.batch;
    List<Operation> operations = into.operations;
    boolean logged = with.contents().options.logged();
    boolean mixed = !operations.isEmpty() && operations.get(0).tree.options.logged() != logged;
    boolean tooLong = value != null && value.length() > with.tree().maxValueBytes();
    boolean done =
        new Demand()
            .must(key == null, Refusal.NULL)
            .must(key != null && key.length > with.tree().maxKeyBytes(), Refusal.ARGUMENT)
            .must(into.opening != with.opening(), Refusal.ARGUMENT)
            .must(mixed, Refusal.ARGUMENT)
            .may(with.contents().dropped, Refusal.DROPPED)
            .may(!world.isOpen(with.opening()), Refusal.CLOSED)
            .must(!delete && value == null, Refusal.NULL)
            .must(!delete && tooLong, Refusal.ARGUMENT)
            .met(
                () -> {
                  if (delete) {
                    to.delete(with.tree(), key);
                  } else {
                    to.put(with.tree(), key, Value.bytes(value));
                  }
                });
    if (done && key != null) {
      operations.add(new Operation(with.contents(), key, delete ? null : value));
    }
    assertEquals(operations.size(), to.size());
  }

  /** The length of a value with which the batch has all that it may have, and {@code more}. */
  int rest(byte @Nullable [] key, int more) {
    Open into = batch;
    long used = into == null ? 0 : into.bytes();
    long left = limit() - used - ENTRY_OVERHEAD - (key == null ? 0 : key.length) - 8 + more;
    return (int) Math.max(0, Math.min(left, world.maxValueBytes()));
  }

  void write(int variant) {
    Open from = batch;
    if (from == null) {
      return;
    }
    long bytes = from.bytes();
    List<Operation> operations = from.operations;
    boolean dropped = operations.stream().anyMatch(each -> each.tree.dropped);
    boolean locked = operations.stream().anyMatch(each -> transactions.locked(each.tree, each.key));
    Durability durability =
        variant % 8 == 7 ? null : variant % 2 == 0 ? Durability.SYNC : Durability.ASYNC;
    boolean done =
        new Demand()
            .must(durability == null, Refusal.NULL)
            .must(!world.isOpen(world.opening()), Refusal.CLOSED)
            .must(from.opening != world.opening(), Refusal.ARGUMENT)
            .must(dropped, Refusal.DROPPED)
            .must(locked, Refusal.OWN)
            .may(bytes > limit(), Refusal.ARGUMENT)
            .met(() -> world.store().write(from.batch, durability));
    if (done) {
      world.model.tick();
      operations.forEach(each -> world.model.write(each.tree, each.key, each.value));
    }
    switch (variant % 3) {
      case 0 -> {
        from.batch.clear();
        operations.clear();
        assertEquals(0, from.batch.size());
      }
      case 1 -> batch = null;
      default -> {} // May be written once more.
    }
  }
}
