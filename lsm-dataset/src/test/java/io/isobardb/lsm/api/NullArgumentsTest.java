package io.isobardb.lsm.api;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.isobardb.lsm.Backups;
import io.isobardb.lsm.Compression;
import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.EntryReader;
import io.isobardb.lsm.IoBudget;
import io.isobardb.lsm.Isolation;
import io.isobardb.lsm.Locking;
import io.isobardb.lsm.MemoryTunerOptions;
import io.isobardb.lsm.MergeFilter;
import io.isobardb.lsm.RecordingOptions;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TransactionBody;
import io.isobardb.lsm.TransactionOptions;
import io.isobardb.lsm.TransactionTask;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.ValueReader;
import io.isobardb.lsm.dataset.BuildProgress;
import io.isobardb.lsm.dataset.Dataset;
import io.isobardb.lsm.dataset.DatasetOptions;
import io.isobardb.lsm.dataset.Index;
import io.isobardb.lsm.dataset.IndexCursor;
import io.isobardb.lsm.dataset.IndexRange;
import io.isobardb.lsm.dataset.KeyExtractor;
import io.isobardb.lsm.dataset.Maintenance;
import io.isobardb.lsm.dataset.RecordBatch;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.option.FileAccess;
import io.isobardb.lsm.option.IoBandwidth;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.option.Levels;
import io.isobardb.lsm.option.MergeOperator;
import io.isobardb.lsm.option.MergeSchedule;
import io.isobardb.lsm.option.Runs;
import io.isobardb.lsm.schedule.Environment;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Each method of the public API, with null for each of its arguments in turn: it has to say which
 * one, and to have done nothing.
 */
@Tag("any-jdk")
class NullArgumentsTest {
  /** What the API gives, or has the user implement; nobody is asked to make or call them. */
  private static final Set<String> NO_RECEIVERS =
      Set.of(
          "Backup",
          "BuildProgress",
          "Compression",
          "DatasetCheck",
          "DuplicateKeyException",
          "Durability",
          "EntryReader",
          "ExtractorException",
          "IndexEntry",
          "IndexState",
          "IndexStatus",
          "IoBudget",
          "Isolation",
          "KeyExtractor",
          "Locking",
          "Maintenance",
          "MemoryTunerOptions",
          "MergeFilter",
          "Recording",
          "RepairResult",
          "Savepoint",
          "Snapshot",
          "TransactionBody",
          "TransactionTask",
          "ValueReader");

  @TempDir Path temp;

  private Store store;
  private Backups backups;
  private final Map<Class<?>, Object> arguments = new HashMap<>();
  private final List<Object> receivers = new ArrayList<>();

  @BeforeEach
  void makeOneOfEach() {
    StoreOptions options = StoreOptions.builder().memoryBudget(8 << 20).build();
    store = Store.open(temp.resolve("store"), options);
    Tree tree = store.openTree("tree");
    tree.put(bytes("k"), bytes("v"));
    Transaction transaction = store.begin();
    Cursor cursor = tree.cursor();
    cursor.first();
    KeyExtractor extractor = (key, value) -> List.of(value);
    Index index = Index.builder("index").key(extractor).build();
    DatasetOptions datasetOptions = DatasetOptions.builder().index(index).build();
    Dataset dataset = Dataset.open(store, "dataset", datasetOptions);
    IndexCursor indexCursor = dataset.cursor("index", IndexRange.all());
    backups = Backups.open(temp.resolve("backups"));
    List<Object> things =
        List.of(
            store,
            backups,
            tree,
            transaction,
            cursor,
            options,
            dataset,
            indexCursor,
            index,
            datasetOptions,
            store.newBatch(),
            store.bulkLoad(tree),
            store.snapshot(),
            transaction.savepoint(),
            CursorOptions.all(),
            RecordingOptions.defaults(),
            TreeOptions.defaults(),
            TransactionOptions.defaults(),
            IndexRange.all(),
            new RecordBatch());
    things.forEach(thing -> arguments.put(face(thing), thing));
    receivers.addAll(things);
    receivers.addAll(
        List.of(
            StoreOptions.builder(),
            TreeOptions.builder(),
            TransactionOptions.builder(),
            DatasetOptions.builder(),
            Index.builder("other")));
    StoreOptions.builder().memoryTuner((Consumer<MemoryTunerOptions.Builder>) receivers::add);
    arguments.put(byte[].class, bytes("k"));
    arguments.put(ByteBuffer.class, ByteBuffer.allocate(8));
    arguments.put(Tree[].class, new Tree[] {tree});
    arguments.put(String.class, "name");
    arguments.put(Path.class, temp.resolve("other"));
    arguments.put(Properties.class, new Properties());
    arguments.put(Duration.class, Duration.ofSeconds(1));
    arguments.put(Instant.class, Instant.MAX);
    arguments.put(List.class, List.of(bytes("k")));
    arguments.put(Class.class, String.class);
    arguments.put(Supplier.class, (Supplier<String>) () -> "made");
    arguments.put(Consumer.class, (Consumer<Object>) any -> {});
    arguments.put(Runnable.class, (Runnable) () -> {});
    arguments.put(KeyOrder.class, KeyOrder.BYTES);
    arguments.put(Runs.class, Runs.leveled());
    arguments.put(Compression.class, Compression.LZ4);
    arguments.put(MergeSchedule.class, MergeSchedule.ALWAYS);
    arguments.put(Levels.class, Levels.dynamic());
    arguments.put(IoBandwidth.class, IoBandwidth.auto());
    arguments.put(IoBudget.class, IoBudget.of(IoBudget.LEAST_BYTES));
    arguments.put(MergeOperator.class, MergeOperator.APPEND);
    arguments.put(KeyExtractor.class, extractor);
    arguments.put(BuildProgress.class, BuildProgress.NONE);
    arguments.put(StoreListener.class, new StoreListener() {});
    arguments.put(EntryReader.class, (EntryReader) (key, value) -> true);
    arguments.put(ValueReader.class, (ValueReader<Integer>) ByteBuffer::remaining);
    arguments.put(TransactionTask.class, (TransactionTask<Exception>) t -> {});
    arguments.put(TransactionBody.class, (TransactionBody<String, Exception>) t -> "done");
    arguments.put(
        MergeFilter.class,
        new MergeFilter() {
          @Override
          public byte[] recordKey(byte[] key) {
            return key;
          }

          @Override
          public boolean counts(byte[] key, byte @Nullable [] record) {
            return true;
          }
        });
    for (Enum<?> value :
        List.of(
            Durability.SYNC,
            Isolation.SNAPSHOT,
            Locking.OPTIMISTIC,
            Maintenance.EAGER,
            IoBandwidth.Kind.AUTO,
            Levels.Kind.DYNAMIC,
            MergeSchedule.Kind.ALWAYS,
            FileAccess.GROUP,
            IoMode.BUFFERED)) {
      arguments.put(value.getDeclaringClass(), value);
    }
  }

  @AfterEach
  void close() {
    backups.close();
    store.close();
  }

  private static boolean mayBeNull(Parameter parameter) {
    return parameter.getType().isPrimitive()
        || parameter.getAnnotatedType().isAnnotationPresent(Nullable.class);
  }

  private Object argument(Class<?> type) {
    if (type == boolean.class) {
      return true;
    }
    if (type.isPrimitive()) {
      return type == long.class ? (Object) 1L : type == int.class ? (Object) 1 : (Object) 1.0;
    }
    Object argument = arguments.get(type);
    if (argument == null) {
      throw new AssertionError("no argument of " + type + " here: add one");
    }
    return argument;
  }

  /** What users know a thing as: its class, or what of the API that implements. */
  private static Class<?> face(Object thing) {
    Class<?> own = thing.getClass();
    return Arrays.<Class<?>>stream(own.getInterfaces())
        .filter(type -> type.getPackageName().equals("io.isobardb.lsm"))
        .findFirst()
        .orElse(own);
  }

  private List<Executable> calls(Class<?> type) {
    List<Executable> calls = new ArrayList<>();
    for (Method method : type.getDeclaredMethods()) {
      if (!method.isSynthetic() && !method.getName().equals("equals")) {
        calls.add(method);
      }
    }
    calls.addAll(List.of(type.getDeclaredConstructors()));
    calls.removeIf(call -> !Modifier.isPublic(call.getModifiers()));
    calls.removeIf(call -> List.of(call.getParameterTypes()).contains(Environment.class));
    return calls;
  }

  /** What is wrong with how null is taken for an argument, or null if nothing is. */
  private @Nullable String wrong(Object receiver, Executable call, int nullAt) {
    Object[] given = Arrays.stream(call.getParameterTypes()).map(this::argument).toArray();
    given[nullAt] = null;
    try {
      if (call instanceof Method method) {
        method.invoke(receiver, given);
      } else {
        ((Constructor<?>) call).newInstance(given);
      }
      return "takes it";
    } catch (InvocationTargetException e) {
      Throwable thrown = e.getCause();
      boolean named =
          thrown instanceof NullPointerException
              && String.valueOf(thrown.getMessage()).matches("[a-zA-Z0-9]+");
      return named ? null : "throws " + thrown;
    } catch (ReflectiveOperationException e) {
      return "can't be called: " + e;
    }
  }

  @Test
  void nullIsRefusedByTheNameOfTheParameter() {
    List<String> wrong = new ArrayList<>();
    int snapshots = store.stats().readers().snapshots();
    int asked = 0;
    for (Object receiver : receivers) {
      for (Executable call : calls(face(receiver))) {
        Parameter[] parameters = call.getParameters();
        for (int i = 0; i < parameters.length; i++) {
          if (mayBeNull(parameters[i])) {
            continue;
          }
          asked++;
          String how = wrong(receiver, call, i);
          if (how != null) {
            wrong.add(call.toGenericString() + ", argument " + i + ": " + how);
          }
        }
      }
    }
    assertEquals("", String.join("\n", wrong));
    assertTrue(asked > 150, asked + " were asked");
    assertEquals(snapshots, store.stats().readers().snapshots(), "none was left open");
    assertFalse(Files.exists(temp.resolve("other")), "nothing was made");
  }

  @Test
  void nullInAListIsRefusedToo() {
    Tree tree = store.tree("tree");
    List<byte[]> keys = Collections.singletonList(null);
    arguments.put(List.class, keys);
    for (Executable call : calls(Tree.class)) {
      if (call.getName().equals("multiGet")) {
        Object[] given = Arrays.stream(call.getParameterTypes()).map(this::argument).toArray();
        try {
          ((Method) call).invoke(tree, given);
          throw new AssertionError(call + " takes it");
        } catch (InvocationTargetException e) {
          assertEquals("key", e.getCause().getMessage());
        } catch (IllegalAccessException e) {
          throw new AssertionError(e);
        }
      }
    }
  }

  @Test
  void noPublicClassIsForgotten() {
    Set<String> known = new TreeSet<>(NO_RECEIVERS);
    receivers.forEach(receiver -> known.add(face(receiver).getSimpleName()));
    Set<String> found = new TreeSet<>();
    for (JavaClass type :
        new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages("io.isobardb.lsm")) {
      boolean api =
          type.getPackageName().equals("io.isobardb.lsm")
              || type.getPackageName().equals("io.isobardb.lsm.dataset");
      boolean top = type.getEnclosingClass().isEmpty();
      if (api && top && type.getModifiers().contains(JavaModifier.PUBLIC)) {
        found.add(type.getSimpleName());
      }
    }
    found.remove("package-info");
    known.removeIf(name -> name.equals("Builder"));
    assertEquals(known, found);
  }
}
