package io.isobardb.lsm.model;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A random list of operations on a store, each a line of text that makes sense wherever it stands,
 * so that a list stays one whatever is taken out of it.
 *
 * <pre>
 * options N             the store is closed, and opened with the options of number N
 * crash MODE N          the power fails; what survives depends on MODE and N; opened with options N
 * put T K LENGTH STAMP  a value of so many bytes, the K-th key of tree T
 * durable T K LENGTH STAMP   as put, and synced
 * delete T K
 * burst T K COUNT LENGTH     puts of keys K, K + 1, ...
 * batch K COUNT LENGTH  one batch over all trees
 * get T K, scan T forward|backward
 * snapshot, old T K     takes a snapshot in the place of the one before; reads from it
 * flush, quiet, sync, checkpoint
 * background N          N steps of background work
 * </pre>
 */
final class StoreScript {
  static final int TREES = 3;
  static final int KEYS = 400;

  private StoreScript() {}

  static List<String> random(long seed, int count) {
    SplittableRandom random = new SplittableRandom(seed);
    List<String> lines = new ArrayList<>();
    lines.add("options " + random.nextInt(1000));
    while (lines.size() < count) {
      lines.add(line(random));
    }
    return lines;
  }

  private static String line(SplittableRandom random) {
    int dice = random.nextInt(100);
    String place = "t" + random.nextInt(TREES) + " " + random.nextInt(KEYS);
    String value =
        " "
            + (random.nextInt(12) == 0 ? random.nextInt(20_000) : random.nextInt(300))
            + " "
            + random.nextInt(256);
    if (dice < 22) {
      return "put " + place + value;
    } else if (dice < 26) {
      return "durable " + place + value;
    } else if (dice < 34) {
      return "delete " + place;
    } else if (dice < 46) {
      return "burst " + place + " " + random.nextInt(300) + " " + random.nextInt(600);
    } else if (dice < 52) {
      return "batch " + random.nextInt(KEYS) + " " + random.nextInt(20) + " " + random.nextInt(300);
    } else if (dice < 60) {
      return "get " + place;
    } else if (dice < 65) {
      return "scan t" + random.nextInt(TREES) + (random.nextBoolean() ? " forward" : " backward");
    } else if (dice < 68) {
      return "snapshot";
    } else if (dice < 75) {
      return "old " + place;
    } else if (dice < 79) {
      return "flush";
    } else if (dice < 81) {
      return "quiet";
    } else if (dice < 83) {
      return "sync";
    } else if (dice < 84) {
      return "checkpoint";
    } else if (dice < 87) {
      return "options " + random.nextInt(1000);
    } else if (dice < 91) {
      String[] modes = {"ONLY_SYNCED", "ALL", "PREFIX", "RANDOM"};
      return "crash " + modes[random.nextInt(4)] + " " + random.nextInt(1000);
    }
    return "background " + random.nextInt(60);
  }
}
