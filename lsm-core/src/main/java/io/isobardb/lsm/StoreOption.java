package io.isobardb.lsm;

import static io.isobardb.lsm.setting.OptionGroup.EXPERIMENT;
import static io.isobardb.lsm.setting.OptionGroup.FILES;
import static io.isobardb.lsm.setting.OptionGroup.LOG;
import static io.isobardb.lsm.setting.OptionGroup.MEMORY;
import static io.isobardb.lsm.setting.OptionGroup.MERGES;
import static io.isobardb.lsm.setting.OptionGroup.OPENING;
import static io.isobardb.lsm.setting.OptionGroup.TUNER;
import static io.isobardb.lsm.setting.OptionKind.BANDWIDTH;
import static io.isobardb.lsm.setting.OptionKind.BOOLEAN;
import static io.isobardb.lsm.setting.OptionKind.BYTES;
import static io.isobardb.lsm.setting.OptionKind.COUNT;
import static io.isobardb.lsm.setting.OptionKind.DURATION;
import static io.isobardb.lsm.setting.OptionKind.NUMBER;
import static io.isobardb.lsm.setting.OptionKind.SWITCH;
import static io.isobardb.lsm.setting.OptionKind.oneOf;

import io.isobardb.lsm.option.FileAccess;
import io.isobardb.lsm.option.IoBandwidth;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.option.Levels;
import io.isobardb.lsm.option.MergeSchedule;
import io.isobardb.lsm.policy.Adaptation;
import io.isobardb.lsm.policy.FlushPolicy;
import io.isobardb.lsm.policy.FlushStrategy;
import io.isobardb.lsm.policy.L0Structure;
import io.isobardb.lsm.policy.MemoryComponent;
import io.isobardb.lsm.policy.MergeSelection;
import io.isobardb.lsm.policy.WriteMemoryAllocation;
import io.isobardb.lsm.setting.Option;
import io.isobardb.lsm.setting.Option.Change;
import io.isobardb.lsm.setting.OptionKind;
import io.isobardb.lsm.setting.OptionLimits;
import io.isobardb.lsm.setting.OptionSet;
import io.isobardb.lsm.setting.OptionValues;
import io.isobardb.lsm.setting.ProcessLimits;
import io.isobardb.tuner.memory.TunerOptions;
import java.time.Duration;

/**
 * All options of a store, each defined once.
 *
 * <p>{@link StoreOptions#fromProperties} and {@code toString}, the checks of ranges, and
 * docs/options.md follow from what stands here. {@link StoreOptions} checks what concerns several
 * options at once.
 */
final class StoreOption {
  static final OptionSet ALL = new OptionSet();

  private static final TunerOptions TUNING = TunerOptions.DEFAULT;

  static final Option<Long> MEMORY_BUDGET =
      ALL.option(MEMORY, "memoryBudget", BYTES)
          .atLeast(OptionLimits.LEAST_BUDGET)
          .where("at least 4MB, and 128 pages")
          .byDefault(
              "a quarter of the JVM's direct memory limit, at most 1GB",
              before ->
                  Math.max(
                      OptionLimits.LEAST_BUDGET,
                      Math.min(ProcessLimits.directMemoryBytes() / 4, 1L << 30)))
          .unsetBy(0L)
          .changes(Change.WHILE_OPEN)
          .does(
              "All memory that the store may hold, outside of the heap: write buffers, cache,"
                  + " indexes, filters and log buffers. `Store.setMemoryBudget` changes it.",
              "Set it always. More memory saves reads and merges.");

  static final Option<Long> WRITE_MEMORY =
      ALL.option(MEMORY, "writeMemory", BYTES)
          .where("1/256 to 3/4 of the memory budget")
          .byDefault("half of the memory budget", before -> before.get(MEMORY_BUDGET) / 2)
          .unsetBy(0L)
          .does(
              "The part of the budget for writes. The buffer cache has the rest. With the memory"
                  + " tuner it is where the tuner begins, and what large values and batches can"
                  + " count on. Of a budget of few pages it may be less, and it is 16 pages at"
                  + " least.",
              "Raise it for large values or batches, or for a store that is mostly written.");

  static final Option<Boolean> TUNER_ON =
      ALL.option(TUNER, "memoryTuner", SWITCH)
          .byDefault(true)
          .does(
              "Whether the store divides the memory between writes and buffer cache itself.",
              "Turn it off if the split must not move, such as for measurements.");

  static final Option<Duration> TUNER_INTERVAL =
      ALL.option(TUNER, "memoryTunerInterval", DURATION)
          .from(Duration.ofSeconds(1), Duration.ofDays(1))
          .where("from a second to a day")
          .byDefault(Duration.ofMinutes(1))
          .does(
              "How often the tuner looks whether to decide while little is written. Under load it"
                  + " decides each time twice the budget, or the log limit if that is more, was"
                  + " written.",
              "Shorten it if the load changes within minutes and little is written.");

  static final Option<Double> TUNER_WRITE_WEIGHT =
      ALL.option(TUNER, "memoryTunerWriteWeight", NUMBER)
          .from(0.0, OptionLimits.MOST_WEIGHT)
          .byDefault(TUNING.writeWeight())
          .does(
              "What a page written costs the tuner. Only its ratio to `memoryTunerReadWeight`"
                  + " counts. They must not both be 0.",
              "Set it to 2 for a device whose writes take twice as long as its reads.");

  static final Option<Double> TUNER_READ_WEIGHT =
      ALL.option(TUNER, "memoryTunerReadWeight", NUMBER)
          .from(0.0, OptionLimits.MOST_WEIGHT)
          .byDefault(TUNING.readWeight())
          .does("What a page read costs the tuner.", "See `memoryTunerWriteWeight`.");

  static final Option<Long> TUNER_WRITE_FLOOR =
      ALL.option(TUNER, "memoryTunerWriteFloor", BYTES)
          .atLeast(0L)
          .where("from 0 to the write memory")
          .byDefault(TUNING.writeFloorBytes())
          .does(
              "The least that the tuner leaves to writes; 0 for what the store needs. It changes"
                  + " with the budget, in proportion.",
              "Set it if writes come in bursts after long times of reading.");

  static final Option<Long> TUNER_CACHE_FLOOR =
      ALL.option(TUNER, "memoryTunerCacheFloor", BYTES)
          .atLeast(0L)
          .where("from 0 to what the budget leaves beside the write memory")
          .byDefault(TUNING.cacheFloorBytes())
          .does(
              "The least that the tuner leaves to the cache; 0 for what the store needs. It"
                  + " changes with the budget, in proportion.",
              "Set it if reads must stay fast while a load of writes passes.");

  static final Option<Durability> DURABILITY =
      ALL.option(LOG, "durability", oneOf(Durability.class))
          .byDefault(Durability.ASYNC)
          .does(
              "What writes survive that don't say. `ASYNC`: the end of the process. `SYNC`: a"
                  + " failure of the machine, too.",
              "Use `SYNC` if no write that has returned may be lost by a power failure.");

  static final Option<Duration> ASYNC_SYNC_INTERVAL =
      ALL.option(LOG, "asyncSyncInterval", DURATION)
          .from(Duration.ZERO, Duration.ofHours(1))
          .where("from 0 to an hour")
          .byDefault(Duration.ofMillis(100))
          .does(
              "The longest time an `ASYNC` write stays unsynced: what a failure of the machine"
                  + " may take.",
              "Lengthen it on devices whose syncs are slow, if you can afford to lose more.");

  static final Option<Duration> WRITE_TIMEOUT =
      ALL.option(LOG, "writeTimeout", DURATION)
          .from(Duration.ZERO, OptionLimits.FOREVER)
          .where("from 0 to 365 days, which is for ever")
          .byDefault("for ever", OptionLimits.FOREVER)
          .does(
              "The longest time a write waits for memory, L0 or the log. One that would wait longer"
                  + " fails with `WriteStalledException`, and nothing of it is applied. 0: a write"
                  + " that would wait fails at once. Waits for locks of keys count, too, and fail"
                  + " with `LockTimeoutException`. Batches and transactions may have their own.",
              "Set it if a caller has something better to do than to wait.");

  // The write memory grows no more once log-triggered flushes prevail, at 0.4 of the log limit.
  static final Option<Long> LOG_LIMIT =
      ALL.option(LOG, "logLimit", BYTES)
          .atLeast(1L << 20)
          .byDefault(
              "2.5 times the write memory, at least 16MB",
              before -> Math.max(before.get(WRITE_MEMORY) * 5 / 2, 16 << 20))
          .unsetBy(0L)
          .does(
              "The length of log that an opening after a crash may have to replay. Older writes"
                  + " are flushed.",
              "Lower it for faster recovery; a short log makes more and smaller flushes.");

  static final Option<Integer> BACKGROUND_THREADS =
      ALL.option(MERGES, "backgroundThreads", COUNT)
          .from(1, 256)
          .byDefault(
              "the number of processors, at least 2 and at most 8",
              before -> Math.max(2, Math.min(8, Runtime.getRuntime().availableProcessors())))
          .does(
              "Threads for flushes and merges.",
              "Lower it if the program needs the processors; raise it on fast devices if writers"
                  + " wait for flushes or merges.");

  static final Option<Double> MAX_SPACE =
      ALL.option(MERGES, "maxSpace", NUMBER)
          .from(1.01, 10.0)
          .byDefault(1.25)
          .does(
              "How many times the size of a tree's last level all its levels may have together. L0"
                  + " comes on top. While merges are behind, a `LEVELED` tree may"
                  + " have more.",
              "Lower it to save disk space; a higher one saves merges.");

  static final Option<Levels> LEVELS =
      ALL.option(MERGES, "levels", OptionKind.LEVELS)
          .byDefault(Levels.dynamic())
          .does(
              "How many levels a tree has, and how large they are. `DYNAMIC`: as its write memory"
                  + " and L0 ask for. `OPTIMISED`: as a model plans for the popularity of the keys"
                  + " that are written, within `maxSpace`. `FIXED(64MB)`: as 64 MB of write memory"
                  + " would, whatever it has.",
              "`OPTIMISED` may save merges where writes stay alike for long. `FIXED` is there to"
                  + " compare with.");

  static final Option<MergeSchedule> MERGE_SCHEDULE =
      ALL.option(MERGES, "mergeSchedule", OptionKind.SCHEDULE)
          .byDefault(MergeSchedule.ALWAYS)
          .does(
              "When disk merges run. `ALWAYS`: as soon as there is something to merge."
                  + " `BELOW_THROUGHPUT`: while users write less than this. `AFTER_LAST_WRITE`:"
                  + " once nobody has written for this long. `SILK`: deep merges once clients leave"
                  + " more than `experiment.ioMinimum` of `ioBandwidth`. `ADAPTIVE`: in the pauses"
                  + " between bursts of writes, which the store tells apart itself. Merges run in"
                  + " any case before L0 or what waits for merges slows writers down, and while the"
                  + " disk is nearly full.",
              "Set it to `ADAPTIVE` if writes come in bursts with pauses between them. L0 takes the"
                  + " bursts then.");

  static final Option<IoBandwidth> IO_BANDWIDTH =
      ALL.option(MERGES, "ioBandwidth", BANDWIDTH)
          .where("`auto`, `unlimited`, or a size per second from 1MB")
          .byDefault(IoBandwidth.auto())
          .does(
              "What the device reads and writes in a second. Flushes and merges get what clients"
                  + " leave of it. `auto`: the store finds out. It limits nobody while the device does"
                  + " more or L0 has many groups. The rate that a volume is held to, as those of clouds"
                  + " are, limits reads and writes each. `unlimited`: flushes and merges take what they"
                  + " can.",
              "Set it if the store has a share of a device that others use, too. Set it on a volume"
                  + " that is held to a rate where there is no Linux: `auto` does not learn that rate"
                  + " there. Set it to what a volume does without credits if its credits are spent all"
                  + " the time.");

  static final Option<Long> PAGE_SIZE =
      ALL.option(FILES, "pageSize", BYTES)
          .where(
              "a power of two from 4096 to 65536",
              size -> Long.bitCount(size) == 1 && size >= 4096 && size <= 65536)
          .byDefault("`8192`", 8192L)
          .changes(Change.NEVER)
          .does(
              "Size of a page, on disk and in memory. An existing store keeps its own.",
              "Raise it if keys need more than a quarter of a page. With `4096` lookups that the"
                  + " cache does not have are up to a sixth faster, and scans a fifth slower."
                  + " Otherwise 8 KB was best, or nearly so, in most measurements.");

  static final Option<IoMode> IO_MODE =
      ALL.option(FILES, "ioMode", oneOf(IoMode.class))
          .byDefault(IoMode.DIRECT)
          .does(
              "Whether file I/O goes past the system's page cache. Where the file system can't do"
                  + " that, `DIRECT` is the same as `BUFFERED`.",
              "Use `BUFFERED` if the machine has memory to spare that the budget can't have.");

  static final Option<FileAccess> FILE_ACCESS =
      ALL.option(FILES, "fileAccess", oneOf(FileAccess.class))
          .byDefault(FileAccess.OWNER)
          .does(
              "Who else may use the files and directories that are made. `OWNER`: nobody. `GROUP`: the"
                  + " group, to read. `UMASK`: whoever the process's umask lets. What is there keeps"
                  + " its permissions.",
              "Widen it if others are to read the store, or to open it. For a store that is there,"
                  + " change the permissions of its files, too.");

  static final Option<Integer> MAX_OPEN_FILES =
      ALL.option(FILES, "maxOpenFiles", COUNT)
          .from(16, 1_000_000)
          .byDefault(
              "a quarter of what the process may still open, 16 to 10,000",
              before -> ProcessLimits.openFiles())
          .unsetBy(0)
          .does(
              "How many files the store keeps open. Some that were not read lately are closed, and"
                  + " opened again when they are read.",
              "Raise it if many more SSTables are read at random; lower it if the process needs"
                  + " its descriptors elsewhere.");

  static final Option<Long> DELETE_RATE =
      ALL.option(FILES, "deleteRate", BYTES)
          .where("0 for no limit, or from 1MB", rate -> rate == 0 || rate >= 1 << 20)
          .byDefault("no limit", 0L)
          .does(
              "Bytes per second of SSTables and log files that are deleted. They are truncated in"
                  + " steps. While the disk is full there is no limit. What is left when the store"
                  + " is closed goes when it is opened again.",
              "Set it for a device that is slow while much is discarded (TRIM), such as to a tenth"
                  + " of what it writes in a second.");

  static final Option<Boolean> CREATE_IF_MISSING =
      ALL.option(OPENING, "createIfMissing", BOOLEAN)
          .byDefault(true)
          .does(
              "Whether to make a store where there is none.",
              "Turn it off where a wrong path must not go unnoticed.");

  static final Option<Boolean> CLOSE_ON_EXIT =
      ALL.option(OPENING, "closeOnExit", BOOLEAN)
          .byDefault(true)
          .does(
              "Whether an orderly end of the JVM closes the store.",
              "Turn it off if the program uses or closes the store in a shutdown hook of its own.");

  static final Option<FlushPolicy> FLUSH_POLICY =
      ALL.option(EXPERIMENT, "experiment.flushPolicy", oneOf(FlushPolicy.class))
          .byDefault(FlushPolicy.OPTIMAL)
          .formerly("flushPolicy")
          .does(
              "Which tree is flushed when write memory runs short. `OPTIMAL`: the one furthest"
                  + " above its share of the writes. `MIN_LSN`: the one with the oldest write."
                  + " `MAX_MEMORY`: the one with the most memory.",
              "The others are there to compare with.");

  static final Option<FlushStrategy> FLUSH_STRATEGY =
      ALL.option(EXPERIMENT, "experiment.flushStrategy", oneOf(FlushStrategy.class))
          .byDefault(FlushStrategy.ROUND_ROBIN)
          .formerly("flushStrategy")
          .does(
              "How much of a tree a flush takes. `ROUND_ROBIN`: slices in turn. `OLDEST`: slices"
                  + " with the oldest entries first. `FULL`: all. `BETA`: slices; all for the log's"
                  + " sake if less than half of the tree's memory was flushed for memory's sake"
                  + " within a log's length. `ADAPTIVE`: as `BETA`, and all if flushes took that"
                  + " memory less than 1.5 times. A tree that has less than half of the write"
                  + " memory, less than 8 MB (4 MB once it was flushed by slices), and no floor is"
                  + " flushed whole when memory runs short.",
              "`FULL` can save a tenth of the bytes written for skewed keys and a short log.");

  static final Option<Double> FLUSH_TRIGGER =
      ALL.option(EXPERIMENT, "experiment.flushTrigger", NUMBER)
          .from(0.5, 0.98)
          .byDefault(0.875)
          .formerly("flushTrigger")
          .does(
              "The part of the write memory that is in use when flushes begin. In 0.5 to 1 MB it is less."
                  + " Writers are slowed down when a quarter of the rest is in use, too.",
              "0.95 is as in the paper: fewer bytes are written, and bursts find less room.");

  static final Option<L0Structure> L0_STRUCTURE =
      ALL.option(EXPERIMENT, "experiment.l0Structure", oneOf(L0Structure.class))
          .byDefault(L0Structure.GREEDY_GROUPED)
          .formerly("l0Structure")
          .does(
              "How L0 is kept. `ORIGINAL`: a list by age. `GROUPED`: groups of disjoint SSTables,"
                  + " of which the oldest leaves first. `GREEDY_GROUPED`: such groups, of which the"
                  + " cheapest to merge leaves first.",
              "The others are there to compare with.");

  static final Option<Boolean> MERGES_WITHIN_L0 =
      ALL.option(EXPERIMENT, "experiment.mergesWithinL0", BOOLEAN)
          .byDefault(true)
          .formerly("mergesWithinL0")
          .does(
              "Whether groups of L0 that are small for what they overlap are merged with each other"
                  + " first. Never so with `experiment.l0Structure` `ORIGINAL`.",
              "Turn it off to compare structures of L0 as the paper has them.");

  static final Option<Boolean> FILTERS_BY_LEVEL =
      ALL.option(EXPERIMENT, "experiment.filtersByLevel", BOOLEAN)
          .byDefault(true)
          .does(
              "Whether small levels get more bits of filter per key than large ones, within the"
                  + " mean that `filterBitsPerKey` of a tree says. Only new SSTables follow it.",
              "Turn it off to see what that saves lookups of absent keys.");

  static final Option<Adaptation> ADAPTATION =
      ALL.option(EXPERIMENT, "experiment.adaptation", oneOf(Adaptation.class))
          .byDefault(Adaptation.OFF)
          .does(
              "Whether trees get other `runs` while they are used otherwise. `OFF`: no. `ON`: as a"
                  + " model, and what was found, say; not where somebody has set them. L0 of a new tree may be"
                  + " merged from twice `experiment.l0StartGroups` on. Parts of trees are merged"
                  + " down where reads have lost as much as that costs. `OBSERVE`: what would be"
                  + " chosen is told, and nothing is changed.",
              "Turn it on if phases of writes and phases of scans take turns, or if scans go to"
                  + " parts of the keys. See docs/adaptation.md.");

  static final Option<Integer> L0_START_GROUPS =
      ALL.option(EXPERIMENT, "experiment.l0StartGroups", COUNT)
          .from(1, 1000)
          .byDefault(4)
          .formerly("l0StartGroups")
          .does(
              "Groups of SSTables in L0 from which on it is merged into the next level.",
              "Raise it if merges of L0 rewrite too much; each group makes reads slower.");

  static final Option<Integer> L0_SLOWDOWN_GROUPS =
      ALL.option(EXPERIMENT, "experiment.l0SlowdownGroups", COUNT)
          .from(2, 2000)
          .byDefault("twice `experiment.l0StartGroups`", before -> 2 * before.get(L0_START_GROUPS))
          .formerly("l0SlowdownGroups")
          .does(
              "Groups of SSTables in L0 from which on writers may be slowed down, the more the more"
                  + " there are. More than `experiment.l0StartGroups`.",
              "Raise it if writes come in bursts that merges make up for later.");

  static final Option<Integer> L0_STOP_GROUPS =
      ALL.option(EXPERIMENT, "experiment.l0StopGroups", COUNT)
          .from(2, 4000)
          .byDefault(
              "`experiment.l0SlowdownGroups` and `experiment.l0StartGroups` together",
              before -> before.get(L0_SLOWDOWN_GROUPS) + before.get(L0_START_GROUPS))
          .formerly("l0StopGroups")
          .does(
              "Groups of SSTables in L0 from which on flushes for memory's sake wait for merges."
                  + " No less than `experiment.l0SlowdownGroups`. While little is read, both limits"
                  + " are higher, up to `experiment.l0MostGroups`.",
              "Raise it along with `experiment.l0SlowdownGroups`.");

  static final Option<Integer> L0_MOST_GROUPS =
      ALL.option(EXPERIMENT, "experiment.l0MostGroups", COUNT)
          .from(2, 4000)
          .byDefault(
              "16 times `experiment.l0StartGroups`, at least `experiment.l0StopGroups`, at most 4000",
              before ->
                  Math.max(
                      before.get(L0_STOP_GROUPS), Math.min(4000, 16 * before.get(L0_START_GROUPS))))
          .does(
              "Groups of SSTables that L0 may have where nobody reads. The limits of a tree lie"
                  + " between `experiment.l0StopGroups` and this: where operations would cost twice"
                  + " what they do at `experiment.l0StartGroups`.",
              "Set it to `experiment.l0StopGroups` for limits that stay as they are.");

  static final Option<Long> MERGE_DEBT_LIMIT =
      ALL.option(EXPERIMENT, "experiment.mergeDebtLimit", BYTES)
          .atLeast(1L << 20)
          .byDefault(
              "64 times the write memory, at least 1MB",
              before -> Math.max(1L << 20, 64 * before.get(WRITE_MEMORY)))
          .formerly("mergeDebtLimit")
          .does(
              "How many bytes may wait for merges. From half of that on writers are slowed down,"
                  + " the more the more it is.",
              "Lower it to bound the space that old versions take; raise it for long bursts.");

  static final Option<MergeSelection> MERGE_SELECTION =
      ALL.option(EXPERIMENT, "experiment.mergeSelection", oneOf(MergeSelection.class))
          .byDefault(MergeSelection.GREEDY)
          .formerly("mergeSelection")
          .does(
              "Which SSTable of a level that is too large goes down. `GREEDY`: the one with the"
                  + " least below it. `OLDEST`: the one written first.",
              "`OLDEST` is there to compare with.");

  static final Option<Double> LEVEL_DROP_FACTOR =
      ALL.option(EXPERIMENT, "experiment.levelDropFactor", NUMBER)
          .from(1.0, 100.0)
          .byDefault(1.5)
          .formerly("levelDropFactor")
          .does(
              "By how much what comes from memory must outgrow L1 before L1 is dropped: f of"
                  + " section 4.1.3. In a large tree that is what L0 delivers at a time, else the"
                  + " write memory.",
              "The larger it is, the more steadily levels stay while memory comes and goes.");

  static final Option<Integer> LEVEL_SIZE_RATIO =
      ALL.option(EXPERIMENT, "experiment.levelSizeRatio", COUNT)
          .where("0, or from 2 to 100", ratio -> ratio == 0 || ratio >= 2 && ratio <= 100)
          .byDefault(0)
          .formerly("levelSizeRatio")
          .does(
              "How many times larger a level is than the one above it: T of section 2.1. 0: as"
                  + " suits what L0 delivers at a time, within `maxSpace`.",
              "10 is as in the paper.");

  private static long known(OptionValues before) {
    IoBandwidth device = before.get(IO_BANDWIDTH);
    return device.kind() == IoBandwidth.Kind.GIVEN ? device.bytesPerSecond() : Long.MAX_VALUE;
  }

  static final Option<Long> IO_RESERVE =
      ALL.option(EXPERIMENT, "experiment.ioReserve", BYTES)
          .atLeast(0L)
          .where("from 0 to less than `ioBandwidth`")
          .byDefault(
              "a twentieth of `ioBandwidth`, at most 10MB",
              before -> Math.min(10L << 20, known(before) / 20))
          .formerly("ioReserve")
          .does(
              "Bytes per second of `ioBandwidth` that neither clients nor flushes and merges are"
                  + " thought to use: room for what changes within 10 ms. With"
                  + " `ioBandwidth=auto`, no more than a twentieth of what the store has learnt.",
              "Raise it if latencies count more than how fast merges are.");

  static final Option<Long> IO_MINIMUM =
      ALL.option(EXPERIMENT, "experiment.ioMinimum", BYTES)
          .atLeast(IoBandwidth.LEAST_BYTES)
          .where("from 1MB to `ioBandwidth`")
          .byDefault(
              "a quarter of `ioBandwidth`, at most 50MB",
              before -> Math.min(50L << 20, Math.max(IoBandwidth.LEAST_BYTES, known(before) / 4)))
          .formerly("ioMinimum")
          .does(
              "Bytes per second that flushes and merges of L0 may read and write however much"
                  + " clients use. With `ioBandwidth=auto`, no more than a quarter of what the"
                  + " store has learnt; deeper merges have a part of it, too.",
              "Raise it if writers wait for flushes at peaks.");

  static final Option<Double> PROCESSOR_MINIMUM =
      ALL.option(EXPERIMENT, "experiment.processorMinimum", NUMBER)
          .from(0.01, 1024.0)
          .byDefault(0.25)
          .formerly("processorMinimum")
          .does(
              "Processors that merges in memory and deeper merges may use however much clients"
                  + " use. Beyond that they get what clients, flushes and merges of L0 leave.",
              "With 1024 they never wait for processors.");

  static final Option<Double> INDEX_LOOKUPS =
      ALL.option(EXPERIMENT, "experiment.indexLookups", NUMBER)
          .from(0.0, 1000000.0)
          .byDefault(0.25)
          .does(
              "Lookups, for each entry of an SSTable, after which an index over its entries is"
                  + " made, if all of them are in memory and the cache has room.",
              "With 0 one is made at once, over small entries, too. With 1000000 there are none.");

  static final Option<MemoryComponent> MEMORY_COMPONENT =
      ALL.option(EXPERIMENT, "experiment.memoryComponent", oneOf(MemoryComponent.class))
          .byDefault(MemoryComponent.PARTITIONED)
          .formerly("memoryComponent")
          .does(
              "How a tree's write memory is arranged. `PARTITIONED`: small SSTables. `MONOLITHIC`:"
                  + " one large B+-tree. `ACCORDION_INDEX`: small SSTables below one index."
                  + " `ACCORDION_DATA`: small SSTables merged into one. These three are flushed as"
                  + " a whole, whatever the `experiment.flushStrategy`. `LEVELED`: levels of small"
                  + " SSTables, each ten times as large as the one above it, of which the last is"
                  + " flushed.",
              "The others are there to compare with.");

  static final Option<WriteMemoryAllocation> WRITE_MEMORY_ALLOCATION =
      ALL.option(EXPERIMENT, "experiment.writeMemoryAllocation", oneOf(WriteMemoryAllocation.class))
          .byDefault(WriteMemoryAllocation.DYNAMIC)
          .formerly("writeMemoryAllocation")
          .does(
              "How trees come to write memory. `DYNAMIC`: all share it. `STATIC`: it is split"
                  + " evenly among the trees written last.",
              "`STATIC` is there to compare with.");

  static final Option<Integer> STATIC_TREES =
      ALL.option(EXPERIMENT, "experiment.staticTrees", COUNT)
          .atLeast(1)
          .where("at least 1, and each must come to 8 pages of the write memory")
          .byDefault(8)
          .formerly("staticTrees")
          .does(
              "Among how many trees the write memory is split with"
                  + " `experiment.writeMemoryAllocation=STATIC`.",
              "Set it to the number of trees that are written at a time.");

  static final Option<Long> ACTIVE_TABLE_SIZE =
      ALL.option(EXPERIMENT, "experiment.activeTableSize", BYTES)
          .where("0, or from 8 pages to a quarter of the write memory and at most 64MB")
          .byDefault(
              "1/8 of the write memory (1/16 with Accordion), at most 32MB; it may grow further"
                  + " while write memory is mostly free",
              0L)
          .formerly("activeTableSize")
          .does(
              "The size at which the SSTable that takes a tree's writes is sealed. `MONOLITHIC`"
                  + " components grow beyond it.",
              "A larger one is slower to write to; a smaller one makes more runs to read and"
                  + " merge.");

  static final Option<Double> CROWDED_PART =
      ALL.option(EXPERIMENT, "experiment.crowdedPart", NUMBER)
          .from(0.0, 1000.0)
          .byDefault(0.125)
          .does(
              "If a page for each tree with entries in memory would take more than this part of the"
                  + " write memory, the first entries of trees lie on the Java heap.",
              "With 1000 all lie in pages, with 0 the first ones of each tree do not.");

  static final Option<Long> DISK_TABLE_SIZE =
      ALL.option(EXPERIMENT, "experiment.diskTableSize", BYTES)
          .where("0, or from 32KB to 1GB", OptionLimits::isTableSize)
          .byDefault(
              "1/8 of the write memory, from 256KB to 16MB; merges write larger ones in a large"
                  + " tree",
              0L)
          .does(
              "The size of SSTables on disk, at least 16 pages.",
              "Larger ones are fewer files with less to describe on the heap; a merge takes more at"
                  + " a time.");

  static final Option<Integer> TUNER_SAMPLES =
      ALL.option(EXPERIMENT, "experiment.tunerSamples", COUNT)
          .from(2, 100)
          .byDefault(TUNING.samples())
          .formerly("memoryTunerSamples")
          .does(
              "Through how many of the last sizes of write memory the tuner draws the line whose"
                  + " root it seeks.",
              "K of section 5.4. With more, noise misleads it less and it sees changes later.");

  static final Option<Double> TUNER_FIXED_STEP =
      ALL.option(EXPERIMENT, "experiment.tunerFixedStep", NUMBER)
          .from(0.001, 1.0)
          .byDefault(TUNING.fixedStep())
          .formerly("memoryTunerFixedStep")
          .does(
              "Length of a step, as a share of the budget, while there is no line whose root the"
                  + " tuner could seek.",
              "See section 5.4.");

  static final Option<Double> TUNER_MAX_STEP =
      ALL.option(EXPERIMENT, "experiment.tunerMaxStep", NUMBER)
          .from(0.001, 1.0)
          .byDefault(TUNING.maxStep())
          .formerly("memoryTunerMaxStep")
          .does(
              "The share of its memory that write memory or cache gives at most in a step, unless"
                  + " `experiment.tunerBoldness` allows more.",
              "See section 5.4.");

  static final Option<Double> TUNER_BOLDNESS =
      ALL.option(EXPERIMENT, "experiment.tunerBoldness", NUMBER)
          .atLeast(1.0)
          .where("from 1 to 1/experiment.tunerMaxStep")
          .byDefault(TUNING.boldness())
          .formerly("memoryTunerBoldness")
          .does(
              "How many times `experiment.tunerMaxStep` a step may be after several in one"
                  + " direction that each lowered the cost.",
              "1 is as in the paper.");

  static final Option<Long> TUNER_MIN_STEP =
      ALL.option(EXPERIMENT, "experiment.tunerMinStep", BYTES)
          .atLeast(0L)
          .byDefault(TUNING.minStepBytes())
          .formerly("memoryTunerMinStep")
          .does(
              "Shorter steps are not made. Small budgets and regions lower it.",
              "See section 5.4.");

  static final Option<Double> TUNER_MIN_GAIN =
      ALL.option(EXPERIMENT, "experiment.tunerMinGain", NUMBER)
          .from(0.0, 1.0)
          .byDefault(TUNING.minGain())
          .formerly("memoryTunerMinGain")
          .does(
              "Steps that are expected to save a smaller share of the cost are not made.",
              "See section 5.4.");

  private StoreOption() {}
}
