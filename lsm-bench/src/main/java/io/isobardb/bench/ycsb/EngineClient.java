package io.isobardb.bench.ycsb;

import io.isobardb.bench.engine.Engine;
import io.isobardb.bench.engine.EngineKind;
import io.isobardb.bench.engine.EngineOptions;
import io.isobardb.bench.engine.IsobarEngine;
import io.isobardb.bench.engine.Session;
import io.isobardb.bench.record.RecordOption;
import io.isobardb.cli.console.ByteSize;
import io.isobardb.lsm.Compression;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.option.Runs;
import io.isobardb.ycsb.IsobarClient;
import io.isobardb.ycsb.RecordClient;
import io.isobardb.ycsb.Shared;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import site.ycsb.DBException;

/**
 * The YCSB binding of any engine of {@code bench.engine}, for peers. Properties: {@code
 * isobar.engine}, and of the adapter {@code isobar.dir}, {@code isobar.memory}, {@code
 * isobar.durability}, {@code isobar.io}. Isobar whose {@link #setTree tree} is given takes all of
 * {@code isobar.store.OPTION}, too, and {@value #RECORDING} and {@value #RECORDED_KEYS}.
 */
public final class EngineClient extends RecordClient {
  private static final Shared<Engine> ENGINE = new Shared<>();
  private static final String TREE_RUNS = "tree.runs";
  private static final String TREE_COMPRESSION = "tree.compression";
  private static final String TREE_FILTERS = "tree.filterBitsPerKey";

  static final String RECORDING = "recording";
  static final String RECORDED_KEYS = "recording.keys";

  private @Nullable Session session;

  @Override
  protected void open(Properties properties, int trees) throws DBException {
    session = ENGINE.acquire(() -> openEngine(properties, trees)).openSession();
  }

  private static Engine openEngine(Properties properties, int trees) throws DBException {
    Path dir = Path.of(required(properties, "isobar.dir"));
    try {
      Files.createDirectories(dir);
    } catch (IOException e) {
      throw new DBException("cannot create " + dir, e);
    }
    EngineKind kind = EngineKind.of(required(properties, "isobar.engine"));
    Engine engine =
        kind == EngineKind.ISOBAR && properties.containsKey(TREE_RUNS)
            ? openIsobar(dir, properties, trees)
            : kind.open(
                new EngineOptions(
                    dir,
                    ByteSize.parse(properties.getProperty("isobar.memory", "256MB")).bytes(),
                    properties.getProperty("isobar.io", "direct").equals("direct"),
                    properties.getProperty("isobar.durability", "async").equals("sync"),
                    trees));
    System.err.println(engine.configuration());
    return engine;
  }

  private static Engine openIsobar(Path dir, Properties properties, int trees) {
    IsobarEngine engine =
        IsobarEngine.open(dir, IsobarClient.options(properties), trees, tree(properties));
    String file = properties.getProperty(RECORDING);
    if (file != null) {
      int keys = Integer.parseInt(properties.getProperty(RECORDED_KEYS));
      // The end of the store ends it.
      RecordOption.start(engine.store(), Path.of(file), keys);
    }
    return engine;
  }

  /** Has a client open Isobar with a tree of these options. */
  static void setTree(Properties properties, TreeOptions tree) {
    properties.setProperty(TREE_RUNS, tree.runs().toString());
    properties.setProperty(TREE_COMPRESSION, tree.compression().toString());
    properties.setProperty(TREE_FILTERS, Integer.toString(tree.filterBitsPerKey()));
  }

  private static TreeOptions tree(Properties properties) {
    return TreeOptions.builder()
        .runs(Runs.parse(properties.getProperty(TREE_RUNS)))
        .compression(Compression.parse(properties.getProperty(TREE_COMPRESSION)))
        .filterBitsPerKey(Integer.parseInt(properties.getProperty(TREE_FILTERS)))
        .build();
  }

  private static String required(Properties properties, String name) throws DBException {
    String value = properties.getProperty(name);
    if (value == null) {
      throw new DBException("property " + name + " is missing");
    }
    return value;
  }

  private Session session() {
    Session open = session;
    if (open == null) {
      throw new IllegalStateException("not open");
    }
    return open;
  }

  @Override
  protected void close() throws DBException {
    if (session == null) {
      return;
    }
    try {
      session.close();
    } finally {
      session = null;
      ENGINE.release(
          engine -> {
            try (engine) {
              report(getProperties(), engine.stats());
            }
          });
    }
  }

  @Override
  protected int get(int tree, byte[] key, byte[] into) {
    return session().get(tree, key, into);
  }

  @Override
  protected void put(int tree, byte[] key, byte[] record) {
    session().put(tree, key, record);
  }

  @Override
  protected void remove(int tree, byte[] key) {
    session().delete(tree, key);
  }

  @Override
  protected void scan(int tree, byte[] from, int limit, RecordVisitor visitor) {
    session()
        .scan(
            tree,
            from,
            limit,
            (key, keyLength, value, valueLength) ->
                visitor.record(Arrays.copyOf(value, valueLength)));
  }
}
