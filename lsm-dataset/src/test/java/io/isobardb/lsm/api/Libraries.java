package io.isobardb.lsm.api;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.dataset.Dataset;
import io.isobardb.memory.stats.Ledger;
import io.isobardb.repair.StoreInspector;
import java.io.File;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The modules whose API the documents show. */
final class Libraries {
  /** Where their sources are. */
  static final List<Path> SOURCES =
      List.of(
          Path.of("..", "lsm-core", "src", "main"),
          Path.of("..", "lsm-repair", "src", "main"),
          Path.of("src", "main"));

  private static final List<Class<?>> ONE_OF_EACH =
      List.of(Ledger.class, Store.class, StoreInspector.class, Dataset.class);

  private Libraries() {}

  /** A class path of their classes. */
  static String classPath() throws URISyntaxException {
    List<String> places = new ArrayList<>();
    for (Class<?> type : ONE_OF_EACH) {
      places.add(
          Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString());
    }
    return String.join(File.pathSeparator, places);
  }
}
