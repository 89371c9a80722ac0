package io.isobardb.lsm;

import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.option.Runs;
import io.isobardb.lsm.setting.Option;
import io.isobardb.lsm.setting.Option.Change;
import io.isobardb.lsm.setting.OptionGroup;
import io.isobardb.lsm.setting.OptionKind;
import io.isobardb.lsm.setting.OptionSet;
import java.time.Duration;

/** All options of a tree, each defined once; see {@link StoreOption}. */
final class TreeOption {
  static final OptionSet ALL = new OptionSet();

  static final Option<String> KEY_ORDER =
      ALL.option(OptionGroup.ENTRIES, "keyOrder", OptionKind.NAME)
          .where("the name of a `KeyOrder`")
          .byDefault(KeyOrder.BYTES.name())
          .changes(Change.NEVER)
          .does(
              "The order of keys: unsigned bytes, or an order of your own. `StoreOptions` must"
                  + " name that each time the store is opened.",
              "Prefer keys whose bytes sort as you need; an order of your own is slower.");

  /** What a tree has that nothing can be merged into. */
  static final String NO_OPERATOR = "none";

  static final Option<String> MERGE_OPERATOR =
      ALL.option(OptionGroup.ENTRIES, "mergeOperator", OptionKind.NAME)
          .where("the name of a `MergeOperator`, or `none`")
          .byDefault(NO_OPERATOR)
          .changes(Change.NEVER)
          .does(
              "How `merge` changes values without reading them: `add-long`, `maximum`, `append`, or"
                  + " an operator of your own. `StoreOptions` must name that each time the store is"
                  + " opened.",
              "Set it for counters, and for values that grow by what is added to them.");

  static final Option<Duration> TIME_TO_LIVE =
      ALL.option(OptionGroup.ENTRIES, "timeToLive", OptionKind.DURATION)
          .from(Duration.ZERO, Duration.ofDays(36500))
          .where(
              "from a millisecond to 36500 days, or 0 for ever",
              duration -> duration.isZero() || duration.toMillis() > 0)
          .byDefault(Duration.ZERO)
          .changes(Change.WHILE_OPEN)
          .does(
              "How long entries live that are written from now on. An entry that has expired is"
                  + " absent.",
              "Set it for sessions, caches and events that nobody needs after some time.");

  static final Option<Runs> RUNS =
      ALL.option(OptionGroup.TABLES, "runs", OptionKind.RUNS)
          .byDefault(Runs.leveled())
          .changes(Change.WHILE_OPEN)
          .does(
              "How many sorted runs each level may have. `LEVELED`: one. `LAZY(8)`: up to 8 on each"
                  + " level but the last, which has one. `TIERED(8)`: up to 8 on all levels, with"
                  + " `maxSpace` of 2 or more. `8,4,1`: from the top down, the first one for all"
                  + " levels above, too.",
              "Take `LAZY(4)` where writes outweigh scans and write memory is at most a thirtieth"
                  + " of the tree: it writes 0.6 to 0.8 times the bytes. Scans of 10 entries read"
                  + " half as many pages more, long ones and absent keys a tenth. With more write"
                  + " memory, or where merges fall behind writers, there is nothing to save."
                  + " `TIERED(8)` where disk space is cheap, too.");

  static final Option<Double> MAX_SPACE =
      ALL.option(OptionGroup.TABLES, "maxSpace", OptionKind.NUMBER)
          .from(0.0, 10.0)
          .where(
              "from 1.01 to 10, or 0 for what the store's `maxSpace` says",
              times -> times == 0 || times >= 1.01)
          .byDefault(0.0)
          .changes(Change.WHILE_OPEN)
          .does(
              "How many times the size of the tree's last level all its levels may have together."
                  + " L0 comes on top. While merges are behind, a `LEVELED` tree may"
                  + " have more.",
              "Raise it for a tree with several `runs`: it is what they save writes with.");

  static final Option<Boolean> LOGGED =
      ALL.option(OptionGroup.TABLES, "logged", OptionKind.BOOLEAN)
          .byDefault(true)
          .changes(Change.NEVER)
          .does(
              "Whether writes go to the log. The writes of an unlogged tree survive a crash up to"
                  + " the last `Store.checkpoint`.",
              "Turn it off for data that can be made again, such as imports and caches.");

  static final Option<Compression> COMPRESSION =
      ALL.option(OptionGroup.TABLES, "compression", new CompressionKind())
          .byDefault(Compression.NONE)
          .changes(Change.WHILE_OPEN)
          .does(
              "How pages are stored on disk. In memory they are never compressed. `LZ4,last=ZSTD`"
                  + " has another codec for the last level, where most of a tree is. `ZSTD` needs"
                  + " the artifact `lsm-zstd`. A change is for new SSTables only.",
              "Use `LZ4` for text and other repetitive values if the device is the bottleneck, and"
                  + " `LZ4,last=ZSTD` if space is.");

  static final Option<Integer> FILTER_BITS_PER_KEY =
      ALL.option(OptionGroup.TABLES, "filterBitsPerKey", OptionKind.COUNT)
          .from(0, 24)
          .byDefault(10)
          .changes(Change.NEVER)
          .does(
              "Bits of filter that a key costs in the mean; 0 for no filters. Keys in small levels"
                  + " get more of them than keys in large ones. With 10, about 2 % of absent keys"
                  + " cost a read.",
              "Use 0 if keys that are looked up are always there, or a tree is only scanned.");

  private TreeOption() {}
}
