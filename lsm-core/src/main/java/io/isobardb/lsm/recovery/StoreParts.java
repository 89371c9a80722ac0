package io.isobardb.lsm.recovery;

import io.isobardb.lsm.commit.BatchFormat;
import io.isobardb.lsm.commit.Committer;
import io.isobardb.lsm.commit.DiskSpace;
import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.commit.LogHandle;
import io.isobardb.lsm.commit.LogWatch;
import io.isobardb.lsm.commit.Snapshots;
import io.isobardb.lsm.commit.StaticShares;
import io.isobardb.lsm.commit.TreeSlots;
import io.isobardb.lsm.commit.WriteGate;
import io.isobardb.lsm.entry.KeyOrder;
import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.error.FailureLatch;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.flush.Checkpointer;
import io.isobardb.lsm.flush.Flusher;
import io.isobardb.lsm.io.IoMode;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.merge.IdleWatch;
import io.isobardb.lsm.merge.LevelingOptions;
import io.isobardb.lsm.merge.Merger;
import io.isobardb.lsm.merge.PartitionedLeveling;
import io.isobardb.lsm.observe.Observers;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.read.BatchReader;
import io.isobardb.lsm.read.InPlaceReader;
import io.isobardb.lsm.read.PointReader;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.sstable.SSTable;
import io.isobardb.lsm.sstable.TableSpace;
import io.isobardb.lsm.state.Catalog;
import io.isobardb.lsm.state.Run;
import io.isobardb.lsm.state.Table;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeState;
import io.isobardb.lsm.state.TreeStates;
import io.isobardb.lsm.tuning.MemoryWall;
import io.isobardb.lsm.tuning.TunerService;
import io.isobardb.lsm.version.Manifest;
import io.isobardb.lsm.version.Recovered;
import io.isobardb.lsm.version.TreeDefinition;
import io.isobardb.lsm.version.Version;
import io.isobardb.lsm.version.VersionEdit;
import io.isobardb.lsm.wal.Log;
import io.isobardb.lsm.wal.LogExtent;
import io.isobardb.lsm.wal.LogHandler;
import io.isobardb.lsm.wal.LogOptions;
import io.isobardb.memory.cache.BufferCache;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.Epochs;
import io.isobardb.memory.pool.PagePool;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.UUID;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;
import org.jspecify.annotations.Nullable;

/**
 * The parts of an open store, put together in the order of recovery and taken apart in the other
 * one.
 *
 * <p>Thread rule: made and closed by one thread; the parts have their own rules.
 */
public final class StoreParts {
  private static final Logger LOG = LogManager.getLogger(StoreParts.class);

  static final String PAGE_SIZE = "pageSize";
  private static final int RESERVE_PAGES = 32;

  /** How often the log is looked at while it grows to its limit. */
  private static final int LOG_LOOKS = 64;

  private final Environment environment;
  private final OpenOptions options;
  private final PagePool pool;
  private final Manifest manifest;
  private final BufferCache cache;
  private final Engine engine;
  private final Flusher flusher;
  private final ActiveFactory actives;
  private final Merger merger;
  private final IdleWatch idleWatch;
  private final Committer committer;
  private final PointReader reader;
  private final InPlaceReader inPlaceReader;
  private final BatchReader batchReader;
  private final UUID storeId;
  private final Map<Integer, Long> flushedLsns = new HashMap<>();
  private final Checkpointer checkpointer;
  private final MemoryWall wall;
  private final @Nullable TunerService tuner;
  private final Observers observers;
  private int nextTreeId;

  private StoreParts(Environment environment, OpenOptions options, Opened opened) {
    this.environment = environment;
    this.pool = opened.memory().pool();
    this.options = options.withPageSize(pool.pageSize());
    Recovered recovered = opened.recovered();
    this.manifest = recovered.manifest();
    this.storeId = new UUID(manifest.storeIdHigh(), manifest.storeIdLow());
    this.nextTreeId = recovered.counters().nextTreeId();
    this.observers = new Observers(environment.storage().path());
    this.cache = opened.memory().cache();
    pool.reservePages(RESERVE_PAGES);
    LogHandle log = new LogHandle();
    boolean direct = options.ioMode() == IoMode.DIRECT && environment.storage().supportsDirect();
    TableSpace space =
        opened
            .memory()
            .space(
                environment.storage(),
                direct ? IoMode.DIRECT : IoMode.BUFFERED,
                storeId,
                this::description);
    long logStart = Math.max(recovered.counters().logStartLsn(), Lsn.FIRST);
    log.replayed(logStart);
    Catalog catalog =
        new Catalog(
            space,
            manifest,
            Math.max(1, recovered.counters().nextFileNumber()),
            logStart,
            log::visible,
            log::durable);
    WriteGate gate =
        new WriteGate(
            pool, environment.clock(), environment.scheduler(), observers, options.writeMemory());
    FailureLatch failure = new FailureLatch();
    DiskSpace diskSpace = new DiskSpace(environment.scheduler(), failure);
    this.engine =
        new Engine(
            catalog,
            log,
            new Snapshots(log::visible),
            gate,
            environment,
            failure,
            diskSpace,
            observers,
            new Epochs());
    engine.snapshots().setCheckpoint(recovered.counters().checkpointLsn());
    this.actives = new ActiveFactory(pool, this.options, gate::limitBytes);
    this.merger =
        new Merger(
            engine,
            new Merger.Settings(
                this::tableBytes,
                Math.max(1, options.backgroundJobs() - 1),
                actives::smallBytes,
                options.policies().memoryComponent()),
            new PartitionedLeveling(leveling(options.policies())),
            this::recentMemoryBytes);
    StaticShares shares = options.policies().shares();
    TreeSlots slots = shares == null ? null : new TreeSlots(shares, engine);
    this.flusher =
        new Flusher(
            engine,
            new Flusher.Settings(
                options.policies().flushPolicy(),
                options.policies().strategy(),
                options.policies().l0Structure(),
                options.logLimit(),
                this::tableBytes,
                Math.max(1, options.backgroundJobs() / 2)),
            merger::request,
            slots);
    merger.onChange(flusher::request);
    if (slots != null) {
      slots.onLeave(flusher::flushAll);
    }
    this.idleWatch = new IdleWatch(engine, merger);
    this.checkpointer = new Checkpointer(engine, flusher);
    this.wall =
        new MemoryWall(
            engine,
            pool,
            cache,
            flusher,
            checkpointer,
            new MemoryWall.Grant(options.memoryBudget(), options.writeMemory()));
    this.tuner = options.memoryTuner() ? newTuner() : null;
    this.committer =
        new Committer(
            engine,
            this::sealed,
            new LogWatch(options.logLimit() / LOG_LOOKS, this::written),
            slots);
    this.reader = new PointReader(engine);
    this.inPlaceReader = new InPlaceReader(engine, reader);
    this.batchReader = new BatchReader(engine, reader);
    failure.onFailure(gate::wake);
    gate.connect(flusher::request, failure::check, diskSpace::check);
    diskSpace.onRetry(this::retry);
  }

  private static LevelingOptions leveling(Policies policies) {
    LevelingOptions standard = LevelingOptions.DEFAULT;
    return new LevelingOptions(
        standard.sizeRatio(),
        standard.dropFactor(),
        policies.l0Structure(),
        standard.l0StartGroups(),
        standard.l0StopGroups(),
        policies.staticLevelBytes());
  }

  private byte[] description(int treeId) {
    TreeHandle tree = engine.catalog().tree(treeId);
    return tree == null
        ? TableSpace.undescribed(treeId)
        : new TreeDefinition(treeId, tree.name(), TreeText.format(tree.settings())).encode();
  }

  private TunerService newTuner() {
    TunerService.Settings settings =
        new TunerService.Settings(options.cycleBytes(), options.tunerIntervalNanos());
    return new TunerService(engine, pool, cache, flusher, wall, settings);
  }

  /** There may be room on disk again. */
  private void retry() {
    flusher.request();
    engine.catalog().trees().forEach(merger::request);
    engine.gate().wake();
  }

  private void sealed(TreeHandle tree) {
    merger.requestMemory(tree);
    written();
  }

  /** Some more was written. */
  private void written() {
    flusher.request();
    idleWatch.written();
    TunerService tuning = tuner;
    if (tuning != null) {
      tuning.active();
    }
  }

  /** An eighth of the budget, wherever the wall stands. */
  private static int ghostPages(OpenOptions options, int pageSize) {
    return (int) Math.max(64, options.memoryBudget() / pageSize / 8);
  }

  private long recentMemoryBytes(TreeHandle tree) {
    return flusher.recentMemoryBytes(tree);
  }

  private long tableBytes() {
    return options.tableBytes(engine.gate().limitBytes());
  }

  /** What takes memory of the pool from the beginning. */
  private record Opened(ReadMemory memory, Recovered recovered) {
    void close() throws IOException {
      recovered.manifest().close();
      memory.close();
    }
  }

  /**
   * Opens a store, or makes one.
   *
   * @throws FormatException if the directory is not a store, or of a newer format
   * @throws CorruptionException if something is damaged that must not be
   */
  public static StoreParts open(Environment environment, OpenOptions options) throws IOException {
    Storage storage = environment.storage();
    if (!Manifest.exists(storage)) {
      // Before the lock leaves a file behind in somebody else's directory.
      checkCreatable(storage, options);
    }
    storage.lock();
    if (!Manifest.exists(storage)) {
      create(environment, options);
    }
    Opened opened = openManifest(environment, options);
    StoreParts parts = null;
    try {
      parts = new StoreParts(environment, options, opened);
      parts.recover(opened.recovered());
      return parts;
    } catch (Throwable e) {
      if (parts != null) {
        parts.closeAfterFailedOpen(e);
      } else {
        opened.close();
      }
      throw e;
    }
  }

  private static void create(Environment environment, OpenOptions options) throws IOException {
    Storage storage = environment.storage();
    checkCreatable(storage, options);
    SplittableRandom random = environment.random();
    PagePool pool = new PagePool(1 << 20, 4096);
    Manifest made =
        Manifest.create(
            storage, pool, random.nextLong(), random.nextLong(), Manifest.DEFAULT_ROLL_BYTES);
    try {
      made.append(
          List.of(
              VersionEdit.store()
                  .property(PAGE_SIZE, Integer.toString(options.pageSize()))
                  .build()));
    } finally {
      made.close();
      pool.close();
    }
  }

  private static void checkCreatable(Storage storage, OpenOptions options) throws IOException {
    List<String> names = storage.list();
    if (!options.createIfMissing()) {
      throw new FormatException(
          storage.path()
              + " holds no store: there is no file CURRENT, and createIfMissing is false"
              + (names.isEmpty() ? "" : "; it holds " + names));
    }
    if (!names.stream().allMatch(StoreParts::leftover)) {
      throw new FormatException(
          storage.path()
              + " is not a store, since it has no file CURRENT, and is not empty: it holds "
              + names
              + "; give an empty directory, or one that does not exist");
    }
  }

  /** Whether a file may be what a crash left while a store was made. */
  private static boolean leftover(String name) {
    return name.startsWith("MANIFEST-") || name.startsWith("CURRENT") || name.equals("LOCK");
  }

  private static Opened openManifest(Environment environment, OpenOptions options)
      throws IOException {
    Storage storage = environment.storage();
    PagePool small = new PagePool(1 << 20, 4096);
    int pageSize;
    try {
      Recovered look = Manifest.open(storage, small, Manifest.DEFAULT_ROLL_BYTES);
      look.manifest().close();
      pageSize = pageSize(look, options.pageSize());
    } finally {
      small.close();
    }
    PagePool pool =
        new PagePool(
            options.memoryBudget(),
            pageSize,
            Boolean.getBoolean("isobar.poison"),
            environment.memoryFaults());
    ReadMemory memory =
        ReadMemory.of(
            pool, options.memoryBudget() - options.writeMemory(), ghostPages(options, pageSize));
    try {
      return new Opened(memory, Manifest.open(storage, pool, Manifest.DEFAULT_ROLL_BYTES));
    } catch (Throwable e) {
      memory.close();
      throw e;
    }
  }

  /** The size of the store's pages. */
  static int pageSize(Recovered recovered, int ifMissing) {
    // Missing if a crash came before it was noted: then there is no page yet.
    String noted = recovered.properties().get(PAGE_SIZE);
    return noted == null ? ifMissing : Integer.parseInt(noted);
  }

  private void recover(Recovered recovered) throws IOException {
    Storage storage = environment.storage();
    List<String> names = storage.list();
    for (Recovered.Tree tree : recovered.trees()) {
      add(tree);
    }
    for (String name : manifest.liveFiles()) {
      if (!names.contains(name)) {
        throw new CorruptionException(name, 0, "the file is missing from " + storage.path());
      }
    }
    List<Rollback> rollbacks = new ArrayList<>();
    for (TreeHandle tree : engine.catalog().trees()) {
      if (!tree.settings().logged()) {
        rollbacks.add(new Rollback(engine, tree, engine.snapshots().checkpoint()));
      }
    }
    LogHandle log = engine.log();
    LogOptions logOptions =
        new LogOptions(
            options.segmentBytes(),
            options.ringBytes(),
            options.ioMode() == IoMode.DIRECT,
            options.asyncSyncNanos(),
            2);
    LogExtent extent =
        new LogExtent(
            Math.max(recovered.counters().logStartLsn(), Lsn.FIRST),
            recovered.counters().syncedLsn());
    // All that may refuse the store comes before anything is changed.
    Log.check(environment, pool, logOptions, storeId, extent);
    for (Rollback rollback : rollbacks) {
      rollback.check();
    }
    if (!recovered.properties().containsKey(PAGE_SIZE)) {
      manifest.append(
          List.of(
              VersionEdit.store().property(PAGE_SIZE, Integer.toString(pool.pageSize())).build()));
    }
    manifest.settle();
    for (String name : manifest.orphans(names)) {
      storage.delete(name);
    }
    for (Rollback rollback : rollbacks) {
      rollback.run();
    }
    // A replay may have to flush, and a tree whose L0 is full is not flushed until that is merged.
    for (TreeHandle tree : engine.catalog().trees()) {
      merger.request(tree);
    }
    log.opened(Log.open(environment, pool, logOptions, storeId, extent, this::replay));
    wall.start();
    engine.failure().onFailure(this::stopWriting);
    log.get().observe(observers, engine.failure()::fail);
    flusher.request();
    idleWatch.start();
    idleWatch.written();
    TunerService tuning = tuner;
    if (tuning != null) {
      cache.onMiss(tuning::active);
      tuning.start();
    }
  }

  private void stopWriting() {
    Throwable cause = engine.failure().cause();
    if (cause != null) {
      engine.log().get().fail(cause);
    }
    engine.gate().wake();
    if (cause != null) {
      observers.failed(new StoreListener.Failure(cause));
    }
  }

  private void replay(long lsn, byte kind, Memory payload, int offset, int length) {
    engine.log().replaying(lsn);
    if (kind == LogHandler.BATCH) {
      BatchFormat.decode(
          payload,
          offset,
          length,
          (operation, treeId, bytes, keyOffset, keyLength, valueOffset, valueLength) -> {
            TreeHandle tree = engine.catalog().tree(treeId);
            if (tree != null && lsn >= flushedLsns.getOrDefault(treeId, 0L)) {
              committer.replay(
                  tree, operation, lsn, bytes, keyOffset, keyLength, valueOffset, valueLength);
            }
          });
    }
    engine.log().replayed(lsn + Lsn.ALIGNMENT);
  }

  private void add(Recovered.Tree recovered) {
    TreeDefinition definition = recovered.definition();
    TreeHandle.Settings settings = TreeText.parse(definition, options.orders());
    Version version = recovered.version(settings.order());
    flushedLsns.put(definition.id(), recovered.flushedLsn());
    engine.catalog().add(handle(definition.id(), definition.name(), settings, version));
  }

  private TreeHandle handle(int id, String name, TreeHandle.Settings settings, Version version) {
    KeyOrder order = settings.order();
    Table active = Table.of(actives.first(order), new Table.StartLsn(Lsn.ZERO));
    List<Run> disk =
        Catalog.diskRuns(version, meta -> SSTable.onDisk(engine.catalog().space(), order, meta));
    TreeState state = new TreeState(active, List.of(), disk, version);
    return new TreeHandle(
        id,
        name,
        settings,
        last -> actives.next(order, last),
        // Writers may wait for what a reader has kept: the flush that gave it up is long over.
        new TreeStates(state, engine.gate()::wake));
  }

  /** Creates a tree, durably. The caller excludes others from doing so. */
  public TreeHandle createTree(String name, TreeHandle.Settings settings) throws IOException {
    engine.failure().check();
    int id = nextTreeId;
    engine
        .catalog()
        .append(
            List.of(VersionEdit.create(new TreeDefinition(id, name, TreeText.format(settings)))));
    nextTreeId = id + 1;
    TreeHandle tree = handle(id, name, settings, Version.empty(settings.order()));
    engine.catalog().add(tree);
    return tree;
  }

  /**
   * Drops a tree, durably, and deletes its files. Nobody uses it any more, and no job works on it.
   */
  public void dropTree(TreeHandle tree) throws IOException {
    engine.failure().check();
    engine.catalog().append(List.of(VersionEdit.drop(tree.id())));
    engine.catalog().remove(tree);
    tree.states().close(true);
    // Its memory is free now: writers to other trees may be waiting for that.
    engine.gate().wake();
  }

  public Engine engine() {
    return engine;
  }

  public Committer committer() {
    return committer;
  }

  public PointReader reader() {
    return reader;
  }

  public InPlaceReader inPlaceReader() {
    return inPlaceReader;
  }

  public BatchReader batchReader() {
    return batchReader;
  }

  public Flusher flusher() {
    return flusher;
  }

  public Merger merger() {
    return merger;
  }

  public BufferCache cache() {
    return cache;
  }

  public PagePool pool() {
    return pool;
  }

  public Checkpointer checkpointer() {
    return checkpointer;
  }

  public Observers observers() {
    return observers;
  }

  public MemoryWall wall() {
    return wall;
  }

  /** The memory tuner, null if it is off. */
  public @Nullable TunerService tuner() {
    return tuner;
  }

  /**
   * Takes the store apart. Nobody uses it any more, and no job is left.
   *
   * @throws IOException if a file could not be synced or closed; all is closed nevertheless
   */
  public void close() throws IOException {
    List<Closeable> steps = new ArrayList<>();
    if (engine.log().isOpen()) {
      steps.add(engine.log().get()::close);
      steps.add(this::promise);
    }
    steps.add(environment.scheduler()::close);
    for (TreeHandle tree : engine.catalog().trees()) {
      steps.add(() -> tree.states().close(false));
    }
    steps.add(cache::close);
    steps.add(() -> pool.release(engine.catalog().space().spare()));
    steps.add(manifest::close);
    steps.add(pool::close);
    steps.add(environment.storage()::close);
    closeAll(steps);
  }

  /** Notes how far the store reaches, so that nobody takes a lost end of it for a torn tail. */
  private void promise() throws IOException {
    if (engine.failure().cause() != null) {
      return;
    }
    try {
      manifest.promise(engine.log().get().durable());
    } catch (DiskFullException e) {
      LOG.warn("no room to note that the store was closed in order", e);
    }
  }

  /** Takes all steps, whatever comes of them; the first failure is thrown then. */
  private static void closeAll(List<Closeable> steps) throws IOException {
    Throwable first = null;
    for (Closeable step : steps) {
      try {
        step.close();
      } catch (IOException | RuntimeException | Error e) {
        if (first == null) {
          first = e;
        } else {
          first.addSuppressed(e);
        }
      }
    }
    if (first instanceof IOException e) {
      throw e;
    } else if (first instanceof RuntimeException e) {
      throw e;
    } else if (first instanceof Error e) {
      throw e;
    }
  }

  private void closeAfterFailedOpen(Throwable cause) {
    for (TreeHandle tree : engine.catalog().trees()) {
      tree.close("the store could not be opened");
    }
    try {
      close();
    } catch (IOException | RuntimeException e) {
      cause.addSuppressed(e);
    }
  }
}
