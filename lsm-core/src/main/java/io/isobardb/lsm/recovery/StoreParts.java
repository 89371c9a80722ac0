package io.isobardb.lsm.recovery;

import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.baseline.StaticShares;
import io.isobardb.lsm.baseline.TreeSlots;
import io.isobardb.lsm.commit.Committer;
import io.isobardb.lsm.commit.DiskSpace;
import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.commit.Latencies;
import io.isobardb.lsm.commit.RangeRoom;
import io.isobardb.lsm.commit.Retention;
import io.isobardb.lsm.commit.Sealer;
import io.isobardb.lsm.commit.Snapshots;
import io.isobardb.lsm.commit.StoreClock;
import io.isobardb.lsm.commit.WriteGate;
import io.isobardb.lsm.commit.WriteShares;
import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.event.FailureLatch;
import io.isobardb.lsm.event.Observers;
import io.isobardb.lsm.event.SystemLog;
import io.isobardb.lsm.flush.Checkpointer;
import io.isobardb.lsm.flush.Flusher;
import io.isobardb.lsm.merge.MemoryMerger;
import io.isobardb.lsm.merge.Merger;
import io.isobardb.lsm.observe.IoPurpose;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.read.BatchReader;
import io.isobardb.lsm.read.InPlaceReader;
import io.isobardb.lsm.read.MemoryReader;
import io.isobardb.lsm.read.PointReader;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.schedule.Errand;
import io.isobardb.lsm.schedule.MeteredStorage;
import io.isobardb.lsm.schedule.PacedDeletions;
import io.isobardb.lsm.schedule.SharedIo;
import io.isobardb.lsm.schedule.Signal;
import io.isobardb.lsm.sstable.PageLoads;
import io.isobardb.lsm.sstable.TableSpace;
import io.isobardb.lsm.state.Adjustments;
import io.isobardb.lsm.state.Catalog;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.tuning.MemoryAccount;
import io.isobardb.lsm.tuning.MemoryWall;
import io.isobardb.lsm.tuning.TunerService;
import io.isobardb.lsm.tuning.Tuning;
import io.isobardb.lsm.version.Manifest;
import io.isobardb.lsm.version.Recovered;
import io.isobardb.lsm.version.TreeDefinition;
import io.isobardb.lsm.wal.Log;
import io.isobardb.lsm.wal.LogOptions;
import io.isobardb.memory.cache.BufferCache;
import io.isobardb.memory.pool.Epochs;
import io.isobardb.memory.pool.PagePool;
import java.io.Closeable;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The parts of an open store, put together in the order of recovery and taken apart in the other
 * one.
 *
 * <p>Thread rule: made and closed by one thread; the parts have their own rules.
 */
public final class StoreParts {

  /** How often the log is looked at while it grows to its limit. */
  private static final int LOG_LOOKS = 64;

  private final Environment environment;
  private final MeteredStorage storage;
  private final PartOptions options;
  private final long mostWriteBytes;
  private final PagePool pool;
  private final Manifest manifest;
  private final BufferCache cache;
  private final Engine engine;
  private final Flusher flusher;
  private final TreeFactory treeFactory;
  private final Sealer sealer;
  private final Merger merger;
  private final MemoryMerger memoryMerger;
  private final @Nullable SharedIo ioBudget;
  private SharedIo.@Nullable Share ioShare;

  private final Committer committer;
  private final PointReader reader;
  private final InPlaceReader inPlaceReader;
  private final BatchReader batchReader;
  private final MemoryReader memoryReader;
  private final Checkpointer checkpointer;
  private final MemoryWall wall;
  private final Services services;
  private final Observers observers;

  /**
   * What parts tell each other that are made before those they tell. Each is told by its own
   * interface, and nobody before all are there, save the cache's neighbours.
   */
  private final class Links
      implements WriteGate.Relief,
          RangeRoom.Relief,
          FailureLatch.Listener,
          Flusher.Listener,
          Merger.Listener {
    private final Readers readers;

    Links(Readers readers) {
      this.readers = readers;
    }

    @Override
    public void requestFlush() {
      flusher.request();
    }

    @Override
    public void suggestFlush() {
      flusher.suggest();
    }

    @Override
    public void checkWritable() {
      engine.failure().check();
    }

    @Override
    public void checkSpace() {
      engine.space().check();
    }

    @Override
    public boolean makeRoom(long bytes, long nanos) {
      return wall.makeRoom(bytes, nanos);
    }

    @Override
    public boolean findsNeedlessRanges(TreeHandle tree) {
      return flusher.findsNeedlessRanges(tree);
    }

    @Override
    public boolean flushAll(TreeHandle tree) {
      return flusher.flushAll(tree);
    }

    @Override
    public boolean merges(TreeHandle tree) {
      merger.request(tree);
      return merger.merges(tree);
    }

    @Override
    public long jobsDone() {
      return flusher.flushes() + merger.merges() + memoryMerger.merges();
    }

    @Override
    public void onStopped(Throwable cause) {
      if (engine.log().isOpen()) {
        engine.log().fail(cause);
      }
      engine.gate().wake();
      environment.scheduler().jobEnded().raise();
      observers.onFailed(new StoreListener.Failure(cause));
    }

    @Override
    public void onFlushed(TreeHandle tree) {
      merger.request(tree);
      services.onFlushed();
    }

    @Override
    public void onLeft(TreeHandle tree) {
      memoryMerger.request(tree);
    }

    @Override
    public void memoryShort() {
      readers.letGo(false);
    }

    @Override
    public void onMergesRequested() {
      services.onMergeRequested();
    }
  }

  private StoreParts(
      Environment environment,
      MeteredStorage storage,
      StoreOptions given,
      Bootstrap found,
      CacheLinks neighbours) {
    Links links = new Links(neighbours.readers());
    this.environment = environment;
    this.storage = storage;
    this.pool = found.memory().pool();
    Tuning tuning = Tuning.of(given);
    boolean tuned = tuning.decides() && !environment.storage().discardsChanges();
    long fixed =
        pool.blocks().lastingBytes() + Log.memoryBytes(LogOptions.ringBytes(given.memoryBudget()));
    fixed += tuned ? TunerService.memoryBytes(tuning, given.memoryBudget()) : 0;
    MemoryAccount account =
        MemoryAccount.of(pool, given.memoryBudget(), fixed, given.writeMemory());
    account.apply(pool);
    this.mostWriteBytes = account.mostWriteBytes();
    this.options =
        new PartOptions(
            given, pool.pageSize(), account.writeBytes(), environment.storage().discardsChanges());
    this.manifest = found.recovered().manifest();
    this.cache = found.memory().cache();
    this.observers = new Observers(environment.storage().path(), storage);
    this.engine = newEngine(found, links);
    this.sealer = new Sealer(engine, options.sealing(), this::onSealed);
    this.treeFactory =
        new TreeFactory(engine, sealer, given, found.recovered().counters().nextTreeId());
    StaticShares even = options.shares();
    WriteShares shares =
        even == null ? WriteShares.NONE : TreeSlots.of(even, engine, this::flushAll);
    this.flusher = new Flusher(engine, options.flushing(), sealer, links, shares);
    this.merger = new Merger(engine, options.merging(), flusher, links);
    this.memoryMerger = new MemoryMerger(engine, sealer, options.memoryMerging(), merger, flusher);
    this.checkpointer = new Checkpointer(engine, flusher);
    this.wall =
        new MemoryWall(
            engine,
            cache,
            flusher,
            checkpointer,
            new MemoryWall.Grant(
                options.memoryBudget(),
                options.writeMemory(),
                (double) given.writeMemory() / given.memoryBudget(),
                tuning.options().writeFloorBytes(),
                tuning.options().cacheFloorBytes()),
            this::onUnfinished);
    this.ioBudget = given.ioBudget() instanceof SharedIo budget ? budget : null;
    this.services = new Services(this, options, tuning, tuned);
    this.committer =
        new Committer(
            engine,
            sealer,
            new RangeRoom(engine, links),
            shares,
            options.flushRules().logLimitBytes() / LOG_LOOKS,
            this::onWritten);
    this.reader = new PointReader(engine);
    this.inPlaceReader = new InPlaceReader(engine, reader);
    this.batchReader = new BatchReader(engine, reader);
    this.memoryReader = new MemoryReader(engine);
    neighbours.set(this);
    Signal added = environment.scheduler().signal("memory that is made ahead");
    pool.setAhead(() -> environment.scheduler().help(new Errand(pool::addAhead, added)));
  }

  /** What all parts share. */
  private Engine newEngine(Bootstrap found, Links links) {
    Recovered.Counters counters = found.recovered().counters();
    boolean direct = options.isDirect() && environment.storage().supportsDirect();
    TableSpace space =
        found
            .memory()
            .space(
                environment.storage(),
                direct ? IoMode.DIRECT : IoMode.BUFFERED,
                manifest.storeId(),
                this::label)
            .with(PageLoads.by(environment.scheduler()));
    Log log = new Log();
    long logStart = Math.max(counters.logStartLsn(), Lsn.FIRST);
    log.onReplayed(logStart);
    long notedTime = StoreProperties.time(found.recovered().properties());
    StoreClock time = new StoreClock(environment.clock(), notedTime);
    Snapshots snapshots = new Snapshots(log, environment.clock()::nanos, time);
    snapshots.setCheckpoint(counters.checkpointLsn());
    Catalog catalog =
        new Catalog(
            space,
            manifest,
            Math.max(1, counters.nextFileNumber()),
            logStart,
            new Catalog.Reached(
                log::visible,
                log::durable,
                time::lastMillis,
                notedTime,
                StoreProperties.treeChanges(found.recovered().properties()),
                snapshots),
            options.filtersByLevel());
    WriteGate gate =
        new WriteGate(
            options.firstRoom(pool, catalog.holders()::size),
            environment,
            observers,
            links,
            options.writeMemory(),
            options.backpressure());
    FailureLatch failure = new FailureLatch(links);
    return new Engine(
        catalog,
        log,
        snapshots,
        new Retention(catalog, log, snapshots),
        gate,
        environment,
        failure,
        new DiskSpace(environment.scheduler(), failure, this::resume),
        observers,
        new Epochs(),
        new Latencies(environment.clock()));
  }

  private TableSpace.TreeLabel label(int treeId) {
    TreeHandle tree = engine.catalog().tree(treeId);
    return tree == null
        ? TableSpace.unknownTree(treeId)
        : new TreeDefinition(treeId, tree.name(), TreeText.format(tree.settings())).label();
  }

  /** Joins the other stores of the budget, until {@link #addClosing}. */
  private SharedIo.Share join(SharedIo budget) {
    SharedIo.Share share =
        budget.join(
            engine.gate()::debtBytes,
            () ->
                storage.bytesRead(IoPurpose.QUERY)
                    + storage.bytesRead(IoPurpose.COPY)
                    + engine.log().end());
    environment.scheduler().share(share);
    return share;
  }

  /**
   * Begins what flushes and merges are due, and lets writers look again: there may be room on disk
   * again, or a tree that was not worked on for a while.
   */
  public void resume() {
    flusher.request();
    engine.catalog().trees().forEach(merger::request);
    engine.gate().wake();
  }

  private boolean isDiskFull() {
    return engine.space().isFull() || engine.log().isOpen() && engine.log().isDiskFull();
  }

  private void onSealed(TreeHandle tree) {
    memoryMerger.request(tree);
    onWritten();
  }

  /** Some more was written. */
  private void onWritten() {
    flusher.request();
    services.onWritten();
  }

  /** The cache had not what was read. */
  void onCacheMiss() {
    services.onCacheMiss();
  }

  /** Memory is still to be given back. */
  private void onUnfinished() {
    services.onUnfinished();
  }

  /** A tree is to leave the write memory. */
  private void flushAll(TreeHandle tree) {
    flusher.flushAll(tree);
  }

  /**
   * Opens a store, or makes one.
   *
   * @param readers those of users, which hold memory
   * @throws FormatException if the directory is not a store, or of a newer format
   * @throws CorruptionException if something is damaged that must not be
   */
  public static StoreParts open(Environment world, StoreOptions given, Readers readers)
      throws IOException {
    MeteredStorage storage = new MeteredStorage(world.storage(), world.clock());
    Environment environment = world.with(storage);
    CacheLinks neighbours = new CacheLinks(readers);
    Bootstrap found = Bootstrap.open(environment, given, neighbours);
    StoreParts parts = null;
    try {
      parts = new StoreParts(environment, storage, given, found, neighbours);
      parts.recover(found);
      return parts;
    } catch (Throwable e) {
      if (parts != null) {
        parts.closeAfterFailedOpen(e);
      } else {
        found.close();
      }
      throw e;
    }
  }

  private void recover(Bootstrap found) throws IOException {
    observers.open();
    if (ioBudget != null) {
      ioShare = join(ioBudget);
    }
    for (Recovered.Tree tree : found.recovered().trees()) {
      treeFactory.add(found.recovered(), tree);
    }
    boolean readOnly = storage.discardsChanges();
    long deleteRate = options.deleteRate();
    if (!readOnly && deleteRate > 0) {
      storage.deleteAtPace(environment, new PacedDeletions.Pace(deleteRate, this::isDiskFull));
    }
    new Recovery(found, options, engine, committer, merger, mostWriteBytes).run();
    wall.start();
    if (readOnly) {
      engine.failure().setReadOnly(storage.path());
    } else {
      storage.deleteBy(environment.scheduler());
    }
    flusher.request();
    services.start();
  }

  /**
   * Creates a tree. That is durable with the next sync of the log. The caller excludes others from
   * creating and dropping trees.
   */
  public TreeHandle createTree(String name, TreeHandle.Settings settings, Adjustments adjustments)
      throws IOException {
    return treeFactory.create(name, settings, adjustments);
  }

  /**
   * Drops a tree. That is durable with the next sync of the log, and then its files go. Nobody uses
   * the tree any more, and no job works on it.
   */
  public void dropTree(TreeHandle tree) throws IOException {
    treeFactory.drop(tree);
    flusher.forget(tree);
  }

  /** Changes something of a tree, durably. Merges go by it from the next one on. */
  public void adjust(TreeHandle tree, UnaryOperator<Adjustments> change) throws IOException {
    treeFactory.adjust(tree, change);
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

  public MemoryReader memoryReader() {
    return memoryReader;
  }

  public BatchReader batchReader() {
    return batchReader;
  }

  public Sealer sealer() {
    return sealer;
  }

  public Flusher flusher() {
    return flusher;
  }

  public Merger merger() {
    return merger;
  }

  public MemoryMerger memoryMerger() {
    return memoryMerger;
  }

  public BufferCache cache() {
    return cache;
  }

  public PagePool pool() {
    return pool;
  }

  /** The store's directory; knows what was read and written. */
  public MeteredStorage storage() {
    return storage;
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

  public Services services() {
    return services;
  }

  /** Adds what takes the store apart. By then nobody uses it any more, and no job is left. */
  public void addClosing(ClosingSteps steps) {
    steps.add(observers::close);
    steps.add(services::stop);
    if (engine.log().isOpen()) {
      steps.add(engine.log()::close);
      steps.add(this::noteTime);
      steps.add(this::promise);
    }
    // Its threads use the memory that is freed next.
    steps.addRepeatable(environment.scheduler()::close);
    if (ioShare != null) {
      steps.addRepeatable(ioShare::close);
    }
    for (TreeHandle tree : engine.catalog().trees()) {
      steps.add(tree.states()::close);
    }
    steps.add(engine.catalog()::close);
    steps.add(cache::close);
    steps.add(services::release);
    steps.add(() -> pool.release(engine.catalog().space().spare()));
    steps.add(manifest::close);
    steps.add(pool::close);
    steps.addRepeatable(environment.storage()::close);
  }

  /** Notes what the store's clock told last, so that it does not fall when the store is opened. */
  private void noteTime() throws IOException {
    note("the time at which the store was closed", engine.catalog()::noteTime);
  }

  /** Notes how far the store reaches, so that nobody takes a lost end of it for a torn tail. */
  private void promise() throws IOException {
    note("that the store was closed in order", () -> manifest.promise(engine.log().durable()));
  }

  private void note(String what, Closeable step) throws IOException {
    if (engine.failure().cause() != null) {
      return;
    }
    try {
      step.close();
    } catch (DiskFullException e) {
      SystemLog.tell(Level.WARNING, StoreParts.class, () -> "no room to note " + what, e);
    }
  }

  private void closeAfterFailedOpen(Throwable cause) {
    for (TreeHandle tree : engine.catalog().trees()) {
      tree.close(TreeHandle.Refusal.STORE_CLOSED);
    }
    ClosingSteps steps = new ClosingSteps();
    addClosing(steps);
    try {
      steps.takeAll();
    } catch (IOException | RuntimeException e) {
      cause.addSuppressed(e);
    }
  }
}
