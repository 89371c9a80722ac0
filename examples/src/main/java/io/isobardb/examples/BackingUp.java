package io.isobardb.examples;

import io.isobardb.lsm.Backups;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.typed.Codec;
import io.isobardb.lsm.typed.KeyCodec;
import io.isobardb.lsm.typed.TypedTree;
import java.nio.file.Path;

/** A backup of an open store, verified, and restored beside it. */
public final class BackingUp {
  private BackingUp() {}

  private static TypedTree<String, String> settings(Store store) {
    return TypedTree.of(store.openTree("settings"), KeyCodec.ofString(), Codec.string());
  }

  /** The argument is the directory of the store. */
  public static void main(String[] args) {
    Path restored = Path.of(args[0] + "-restored");
    // begin
    try (Store store = Store.open(Path.of(args[0]));
        Backups backups = Backups.open(Path.of(args[0] + "-backups"))) {
      settings(store).put("color", "red");
      long id = backups.create(store).id();
      settings(store).put("color", "blue");
      backups.keep(7);
      System.out.println("damaged: " + backups.verify());
      backups.restore(id, restored);
      System.out.println("now: " + settings(store).get("color"));
    }
    try (Store store = Store.open(restored)) {
      System.out.println("then: " + settings(store).get("color"));
    }
    // end
  }
}
