package io.isobardb.lsm.commit;

import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.range.Coverage;
import io.isobardb.lsm.range.RangeDelete;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** Range deletes among the operations of one batch, which all have one LSN. Pure functions. */
final class BatchRanges {
  /** Any LSN: of one batch all have the same. */
  private static final long ONE = 1;

  private record Operation(
      int kind, int treeId, byte[] key, byte[] value, long expiry, @Nullable RangeDelete range) {}

  private BatchRanges() {}

  /** The operations without those that a later range delete hides. */
  static BatchFormat.Builder resolve(BatchFormat.Builder batch, IntFunction<KeyOrder> orders) {
    List<Operation> all = operations(batch);
    boolean[] hidden = new boolean[all.size()];
    Map<Integer, Coverage> later = new HashMap<>();
    for (int i = all.size() - 1; i >= 0; i--) {
      Operation one = all.get(i);
      Coverage deletes = later.computeIfAbsent(one.treeId(), id -> Coverage.none(orders.apply(id)));
      if (one.range() != null) {
        later.put(one.treeId(), deletes.with(one.range()));
      } else {
        hidden[i] = deletes.covering(one.key(), one.key().length) != 0;
      }
    }
    BatchFormat.Builder left = new BatchFormat.Builder();
    for (int i = 0; i < hidden.length; i++) {
      if (!hidden[i]) {
        Operation one = all.get(i);
        left.add(one.kind(), one.treeId(), one.key(), one.value(), one.expiry());
      }
    }
    return left;
  }

  private static List<Operation> operations(BatchFormat.Builder batch) {
    List<Operation> all = new ArrayList<>(batch.count());
    BatchFormat.decode(
        batch.bytes(),
        0,
        batch.length(),
        (treeId, write) -> {
          int key = write.keyOffset();
          int value = write.valueOffset();
          all.add(
              new Operation(
                  write.kind(),
                  treeId,
                  Arrays.copyOfRange(write.key(), key, key + write.keyLength()),
                  Arrays.copyOfRange(write.value(), value, value + write.valueLength()),
                  write.expiry(),
                  write.isRange() ? write.at(ONE).range() : null));
        });
    return all;
  }
}
