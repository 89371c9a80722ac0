package io.isobardb.bench.simulate;

import io.isobardb.bench.analytic.ColaModel;
import io.isobardb.bench.analytic.SamtModel;
import io.isobardb.bench.analytic.UniversalModel;
import io.isobardb.cli.console.UsageException;
import io.isobardb.tuner.model.WriteCost;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Designs whose tables each span all keys, entry by entry: a memtable is flushed, and a {@link
 * Design} says which tables are merged then.
 */
public final class StagedSimulator {
  private final int bufferEntries;
  private final KeyStream stream;
  private final Design design;

  private StagedSimulator(int bufferEntries, KeyStream stream, Design design) {
    if (bufferEntries < 1) {
      throw new UsageException("the buffer must hold 1 or more, not " + bufferEntries);
    }
    this.bufferEntries = bufferEntries;
    this.stream = stream;
    this.design = design;
  }

  /** COLA; see {@link ColaModel}. */
  public static StagedSimulator cola(int bufferEntries, int growth, KeyStream stream) {
    int stages = new ColaModel(bufferEntries, growth).stages(stream.keys());
    return new StagedSimulator(bufferEntries, stream, new Cola(stages, growth, stream.keys()));
  }

  /** SAMT; see {@link SamtModel}. */
  public static StagedSimulator samt(int bufferEntries, int growth, KeyStream stream) {
    int stages = new SamtModel(bufferEntries, growth).stages(stream.keys());
    return new StagedSimulator(bufferEntries, stream, new Samt(stages, growth, stream.keys()));
  }

  /** Universal merging; see {@link UniversalModel}. */
  public static StagedSimulator universal(
      int bufferEntries, UniversalModel model, KeyStream stream) {
    return new StagedSimulator(bufferEntries, stream, new Universal(model, stream.keys()));
  }

  /** Takes flushed tables, and counts the entries that it writes. */
  private interface Design {
    void flush(KeyBits table);

    /** Entries written, flushes first if they write a table; from then on counted anew. */
    long[] writtenSinceLastCall();
  }

  /**
   * Inserts all keys once and then {@code rounds} times as many by popularity; gives what these
   * cost.
   */
  public WriteCost run(double rounds) {
    insert(stream.keys(), true);
    design.writtenSinceLastCall();
    long requests = (long) (rounds * stream.keys());
    insert(requests, false);
    long[] written = design.writtenSinceLastCall();
    double[] levels = new double[written.length - 1];
    for (int i = 0; i < levels.length; i++) {
      levels[i] = (double) written[i + 1] / requests;
    }
    return new WriteCost(1, (double) written[0] / requests, levels);
  }

  private void insert(long requests, boolean load) {
    KeyBits memtable = new KeyBits(stream.keys());
    int inMemory = 0;
    for (long i = 0; i < requests; i++) {
      memtable.add(load ? stream.load() : stream.next());
      if (++inMemory == bufferEntries) {
        design.flush(memtable);
        memtable = new KeyBits(stream.keys());
        inMemory = 0;
      }
    }
    design.flush(memtable);
  }

  private static final class Cola implements Design {
    private final KeyBits[] stages;
    private final int[] merges;
    private final int growth;
    private final int last;
    private long[] written;

    Cola(int stages, int growth, int keys) {
      this.stages = new KeyBits[stages];
      this.merges = new int[stages];
      this.growth = growth;
      this.last = keys - 1;
      this.written = new long[stages + 1];
      for (int i = 0; i < stages; i++) {
        this.stages[i] = new KeyBits(keys);
      }
    }

    @Override
    public void flush(KeyBits table) {
      for (int s = 0; ; s++) {
        stages[s].take(table, 0, last);
        if (s == stages.length - 1 || ++merges[s] < growth) {
          written[s + 1] += stages[s].count(0, last);
          return;
        }
        merges[s] = 0;
        table.take(stages[s], 0, last);
      }
    }

    @Override
    public long[] writtenSinceLastCall() {
      long[] counted = written;
      written = new long[counted.length];
      return counted;
    }
  }

  private static final class Samt implements Design {
    private final List<List<KeyBits>> stages = new ArrayList<>();
    private final int growth;
    private final int last;
    private long[] written;

    Samt(int stages, int growth, int keys) {
      this.growth = growth;
      this.last = keys - 1;
      this.written = new long[stages + 1];
      for (int i = 0; i < stages; i++) {
        this.stages.add(new ArrayList<>());
      }
      KeyBits all = new KeyBits(keys);
      all.fill(keys);
      this.stages.get(stages - 1).add(all);
    }

    @Override
    public void flush(KeyBits table) {
      KeyBits arriving = table;
      for (int s = 0; ; s++) {
        written[s] += arriving.count(0, last);
        List<KeyBits> stage = stages.get(s);
        stage.add(arriving);
        if (stage.size() < growth) {
          return;
        }
        KeyBits merged = stage.get(0);
        stage.subList(1, growth).forEach(other -> merged.take(other, 0, last));
        stage.clear();
        arriving = merged;
        if (s == stages.size() - 1) {
          stage.add(merged);
          written[s + 1] += merged.count(0, last);
          return;
        }
      }
    }

    @Override
    public long[] writtenSinceLastCall() {
      long[] counted = written;
      written = new long[counted.length];
      return counted;
    }
  }

  private static final class Universal implements Design {
    private final UniversalModel model;
    private final List<KeyBits> tables = new ArrayList<>();
    private final int last;
    private long[] written = new long[2];

    Universal(UniversalModel model, int keys) {
      this.model = model;
      this.last = keys - 1;
      KeyBits all = new KeyBits(keys);
      all.fill(keys);
      tables.add(all);
    }

    @Override
    public void flush(KeyBits table) {
      written[0] += table.count(0, last);
      tables.add(table);
      for (UniversalModel.Merge merge = choose(); merge != null; merge = choose()) {
        List<KeyBits> inputs = tables.subList(merge.from(), merge.to());
        KeyBits output = inputs.get(0);
        inputs.subList(1, inputs.size()).forEach(input -> output.take(input, 0, last));
        written[1] += output.count(0, last);
        inputs.subList(1, inputs.size()).clear();
      }
    }

    private UniversalModel.@Nullable Merge choose() {
      double[] sizes = tables.stream().mapToDouble(table -> table.count(0, last)).toArray();
      return model.choose(sizes, sizes.length);
    }

    @Override
    public long[] writtenSinceLastCall() {
      long[] counted = written;
      written = new long[2];
      return counted;
    }
  }
}
