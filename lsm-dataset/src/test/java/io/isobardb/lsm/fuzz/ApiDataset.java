package io.isobardb.lsm.fuzz;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.dataset.Dataset;
import io.isobardb.lsm.dataset.DatasetCheck;
import io.isobardb.lsm.dataset.DatasetOptions;
import io.isobardb.lsm.dataset.Index;
import io.isobardb.lsm.dataset.IndexCursor;
import io.isobardb.lsm.dataset.IndexEntry;
import io.isobardb.lsm.dataset.IndexRange;
import io.isobardb.lsm.dataset.Maintenance;
import io.isobardb.lsm.fuzz.ApiModel.Value;
import io.isobardb.lsm.fuzz.ApiScript.Call;
import io.isobardb.lsm.fuzz.Demand.Refusal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The dataset of an {@link ApiPlay}, with indexes whose extractors give all that their type may.
 */
final class ApiDataset {
  /** No tree that {@link ApiScript} names begins like this. */
  static final String NAME = "ds";

  private static final List<String> OTHER_NAMES =
      List.of("", "a/b", "x".repeat(101), "\u00E9", "a b", "\uD800", NAME + "\n");

  /** An index has its properties in its name. */
  private static final List<String> INDEXES =
      List.of("eager", "lazy", "unique-eager", "unique-lazy");

  private static final List<String> NO_INDEXES = List.of("", "a.b", "i".repeat(61), "\u00E9");

  private final ApiWorld world;
  private final TreeMap<byte[], Value> records = new TreeMap<>(Arrays::compareUnsigned);
  private final TreeSet<String> indexes = new TreeSet<>();
  private @Nullable Dataset dataset;
  private int opening;

  ApiDataset(ApiWorld world) {
    this.world = world;
  }

  private static boolean isUnique(String index) {
    return index.startsWith("unique");
  }

  private static boolean isLazy(String index) {
    return index.endsWith("lazy");
  }

  private static Index definition(String name) {
    return Index.builder(name)
        .key((key, value) -> extract(value))
        .unique(isUnique(name))
        .maintenance(isLazy(name) ? Maintenance.VALIDATION : Maintenance.EAGER)
        .build();
  }

  /** Index keys of a record; also what no extractor should give. */
  private static @Nullable Collection<byte[]> extract(byte[] value) {
    if (value.length < 4) {
      return List.of();
    }
    byte[] key = {value[0]};
    return switch (value[0] & 15) {
      case 0 -> List.of(new byte[0]);
      case 1 -> List.of(key, key);
      case 2 -> List.of(new byte[] {1}, new byte[] {0, 0}, new byte[] {0});
      case 3 -> List.of();
      case 4 -> throw new IllegalStateException("of the extractor");
      case 5 -> null;
      case 6 -> Arrays.asList(key, null);
      case 7 -> List.of(new byte[20_000]);
      default -> List.of(new byte[] {(byte) (value[0] >> 5)});
    };
  }

  /** The index keys of a record, or null if an index refuses it. */
  private @Nullable SortedSet<byte[]> keys(String index, byte[] key, Value value) {
    int kind = value.length() < 4 ? 3 : value.bytes()[0] & 15;
    if (kind >= 4 && kind <= 7) {
      return null;
    }
    SortedSet<byte[]> keys = new TreeSet<>(Arrays::compareUnsigned);
    keys.addAll(requireNonNull(extract(value.bytes())));
    for (byte[] indexKey : keys) {
      int zeros = indexKey.length - new String(indexKey).replace("\0", "").length();
      int length = isUnique(index) ? indexKey.length : indexKey.length + zeros + 2 + key.length;
      if (length > world.pageSize() / 4) {
        return null;
      }
    }
    return keys;
  }

  /** What an index leads to, in its order. */
  private List<IndexEntry> entries(String index) {
    List<IndexEntry> entries = new ArrayList<>();
    records.forEach(
        (key, value) ->
            requireNonNull(keys(index, key, value))
                .forEach(indexKey -> entries.add(new IndexEntry(indexKey, key, value.bytes()))));
    entries.sort(
        (a, b) -> {
          int c = Arrays.compareUnsigned(a.indexKey(), b.indexKey());
          return c != 0 ? c : Arrays.compareUnsigned(a.key(), b.key());
        });
    return entries;
  }

  private boolean extractorFails(byte[] key, Value value) {
    return indexes.stream().anyMatch(index -> keys(index, key, value) == null);
  }

  /** Whether a record would take a key of a unique index that another one has. */
  private boolean isTaken(byte[] key, Value value) {
    for (String index : indexes) {
      SortedSet<byte[]> wanted = isUnique(index) ? keys(index, key, value) : null;
      if (wanted != null
          && entries(index).stream()
              .anyMatch(e -> wanted.contains(e.indexKey()) && !Arrays.equals(e.key(), key))) {
        return true;
      }
    }
    return false;
  }

  void use(Call call, byte @Nullable [] key, @Nullable Value value) {
    Dataset on = dataset;
    if (on == null) {
      open(call.value());
      return;
    }
    switch (call.which() % 16) {
      case 0 -> open(call.value());
      case 1, 2, 3, 4, 5 -> put(on, key, value);
      case 6 -> delete(on, key);
      case 7 -> get(on, key);
      case 8, 9 -> find(on, index(call), call.value());
      case 10 -> scan(on, index(call));
      case 11, 12 -> createIndex(on, index(call));
      case 13 -> dropIndex(on, index(call));
      case 14 -> repair(on, index(call), call.value() % 5);
      default -> check(on);
    }
  }

  private static String index(Call call) {
    return call.rest() / 5 % 8 == 7
        ? NO_INDEXES.get(call.rest() % NO_INDEXES.size())
        : INDEXES.get(call.rest() / 5 % INDEXES.size());
  }

  private boolean closed() {
    return !world.isOpen(opening);
  }

  private Demand use() {
    return new Demand().must(closed(), Refusal.CLOSED);
  }

  private Demand use(byte @Nullable [] key) {
    return use()
        .must(key == null, Refusal.NULL)
        .must(key != null && key.length > world.pageSize() / 4, Refusal.ARGUMENT);
  }

  private Demand useIndex(String index) {
    // What knows no index looks at nothing that is closed.
    return use().must(!indexes.contains(index), Refusal.ARGUMENT);
  }

  /** Also under another name, with other definitions, or once more. */
  private void open(int variant) {
    boolean isOpen = dataset != null && !closed();
    String name = variant % 4 == 1 ? OTHER_NAMES.get(variant / 4 % OTHER_NAMES.size()) : NAME;
    boolean wrong = variant % 4 == 2;
    DatasetOptions.Builder options = DatasetOptions.builder();
    for (String index : INDEXES) {
      if (indexes.contains(index) != (wrong && index.equals("eager"))) {
        options.index(definition(index));
      }
    }
    // A new dataset takes any definitions.
    boolean fresh = world.isOpen(world.opening()) && !world.hasTree(NAME);
    new Demand()
        .must(!world.isOpen(world.opening()), Refusal.CLOSED)
        .must(!name.equals(NAME), Refusal.ARGUMENT)
        .must(wrong && !fresh && !isOpen, Refusal.ARGUMENT)
        .must(isOpen, Refusal.STATE)
        .met(
            () -> {
              dataset = Dataset.open(world.store(), name, options.build());
              opening = world.opening();
              if (wrong) {
                indexes.add("eager");
              }
            });
  }

  private void put(Dataset on, byte @Nullable [] key, @Nullable Value value) {
    boolean tooLong = value != null && value.length() > world.maxValueBytes();
    boolean valid = key != null && value != null;
    boolean done =
        use(key)
            .must(value == null, Refusal.NULL)
            .must(tooLong, Refusal.ARGUMENT)
            .must(valid && extractorFails(key, value), Refusal.EXTRACTOR)
            .must(valid && isTaken(key, value), Refusal.DUPLICATE)
            .met(() -> on.put(key, Value.bytes(value)));
    if (done) {
      records.put(requireNonNull(key), value);
    }
  }

  private void delete(Dataset on, byte @Nullable [] key) {
    if (use(key).met(() -> on.delete(key))) {
      records.remove(requireNonNull(key));
    }
  }

  private void get(Dataset on, byte @Nullable [] key) {
    byte[] expected = key == null ? null : Value.bytes(records.get(key));
    use(key).met(() -> assertArrayEquals(expected, on.get(key)));
  }

  private void find(Dataset on, String index, int number) {
    byte[] indexKey =
        switch (number % 8) {
          case 0 -> null;
          case 1 -> new byte[0];
          case 2 -> new byte[20_000];
          case 3 -> new byte[] {0, 0};
          default -> new byte[] {(byte) (number >> 5)};
        };
    useIndex(index)
        .must(indexKey == null, Refusal.NULL)
        .may(isUnique(index) && number % 8 == 2, Refusal.ARGUMENT)
        .met(
            () -> {
              List<IndexEntry> found = on.find(index, indexKey);
              List<IndexEntry> expected =
                  entries(index).stream()
                      .filter(entry -> Arrays.equals(entry.indexKey(), indexKey))
                      .toList();
              assertEquals(expected, found);
            });
  }

  private void scan(Dataset on, String index) {
    useIndex(index)
        .met(
            () -> {
              List<IndexEntry> found = new ArrayList<>();
              try (IndexCursor cursor = on.cursor(index, IndexRange.all())) {
                for (boolean more = cursor.first(); more; more = cursor.next()) {
                  found.add(new IndexEntry(cursor.indexKey(), cursor.key(), cursor.value()));
                }
              }
              assertEquals(entries(index), found);
            });
  }

  private void createIndex(Dataset on, String index) {
    boolean named = INDEXES.contains(index);
    boolean fails =
        records.entrySet().stream().anyMatch(e -> keys(index, e.getKey(), e.getValue()) == null);
    boolean doubled = !fails && isUnique(index) && hasDoubles(index);
    boolean done =
        use()
            .must(!named || indexes.contains(index), Refusal.ARGUMENT)
            .must(fails, Refusal.EXTRACTOR)
            .may(fails && isUnique(index), Refusal.DUPLICATE)
            .must(doubled, Refusal.DUPLICATE)
            .met(() -> on.createIndex(definition(index)));
    if (done) {
      indexes.add(index);
    }
    if (!closed()) {
      assertEquals(indexes.size(), on.indexes().size());
    }
  }

  private boolean hasDoubles(String index) {
    List<IndexEntry> entries = entries(index);
    for (int i = 1; i < entries.size(); i++) {
      if (Arrays.equals(entries.get(i - 1).indexKey(), entries.get(i).indexKey())) {
        return true;
      }
    }
    return false;
  }

  private void dropIndex(Dataset on, String index) {
    if (useIndex(index).met(() -> on.dropIndex(index))) {
      indexes.remove(index);
    }
  }

  private void repair(Dataset on, String index, int entries) {
    useIndex(index)
        .must(!isLazy(index) || entries == 0, Refusal.ARGUMENT)
        .met(() -> on.repair(index, entries));
  }

  private void check(Dataset on) {
    use()
        .met(
            () -> {
              DatasetCheck check = on.check();
              assertTrue(check.isSound(), check::toString);
              assertEquals(records.size(), check.records());
              assertEquals(indexes.size(), check.indexes().size());
            });
  }
}
