package io.isobardb.lsm.sstable;

import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.error.UserCode;
import io.isobardb.lsm.option.PageCodec;
import io.isobardb.lsm.setting.Suggestion;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The codecs of this process by name, and what they compress with. Services are looked for when a
 * name is asked for that is not built in: most stores need none.
 *
 * <p>Stores share what has one dictionary, and count who uses it.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class Codecs {
  public static final String NONE = "NONE";
  public static final String LZ4 = "LZ4";

  /** Codecs that this project has in artifacts of their own. */
  private static final Map<String, String> ARTIFACTS = Map.of("ZSTD", "io.isobardb:lsm-zstd");

  /** Services that can't be loaded before it gives up on the rest. */
  private static final int MOST_BROKEN = 10;

  private static final Map<String, PageCodec> FOUND = new ConcurrentHashMap<>();
  private static final Map<String, PageCodec.Coder> CODERS = new ConcurrentHashMap<>();

  /** Guarded by itself. */
  private static final Map<Dictionary, Shared> SHARED = new HashMap<>();

  private record Dictionary(String codec, ByteBuffer bytes) {}

  private static final class Shared {
    final PageCodec.Coder coder;
    int users;

    Shared(PageCodec.Coder coder) {
      this.coder = coder;
    }
  }

  private Codecs() {}

  /**
   * The codec of this name, which an option gives.
   *
   * @return null for {@code NONE}
   * @throws IllegalArgumentException if there is none; the message has the nearest name, or says
   *     where it is
   */
  public static @Nullable PageCodec given(String name) {
    PageCodec codec = find(name);
    if (codec == null && !name.equals(NONE)) {
      String where =
          ARTIFACTS.containsKey(name) ? "; " + remedy(name) : Suggestion.among(name, names());
      throw new IllegalArgumentException("there is no codec '" + name + "'" + where);
    }
    return codec;
  }

  /**
   * Passes if what is stored can be read.
   *
   * @param what has pages of that codec, for the message
   * @throws FormatException if there is no such codec; the message says what to add
   */
  public static void require(String name, String what) {
    if (!name.equals(NONE) && find(name) == null) {
      throw new FormatException(
          what
              + " is compressed by the codec '"
              + name
              + "', which this program does not have; "
              + remedy(name));
    }
  }

  private static String remedy(String name) {
    String artifact = ARTIFACTS.get(name);
    return artifact != null
        ? "add the artifact "
            + artifact
            + " to it (on the module path, its module io.isobardb.zstd)"
        : "add the library whose service " + PageCodec.class.getName() + " has this name";
  }

  private static Set<String> names() {
    Set<String> names = new TreeSet<>(FOUND.keySet());
    names.addAll(ARTIFACTS.keySet());
    names.addAll(List.of(NONE, LZ4));
    return names;
  }

  private static @Nullable PageCodec find(String name) {
    if (name.equals(LZ4)) {
      return Lz4.CODEC;
    }
    if (name.equals(NONE)) {
      return null;
    }
    PageCodec found = FOUND.get(name);
    if (found == null) {
      // The program's own class loader first; a container may have the engine in another one.
      load(ServiceLoader.load(PageCodec.class));
      load(ServiceLoader.load(PageCodec.class, PageCodec.class.getClassLoader()));
      found = FOUND.get(name);
    }
    return found;
  }

  private static void load(ServiceLoader<PageCodec> services) {
    int broken = 0;
    for (Iterator<PageCodec> each = services.iterator(); broken < MOST_BROKEN; ) {
      try {
        if (!each.hasNext()) {
          return;
        }
        PageCodec codec = each.next();
        if (PageCodec.isName(codec.name())) {
          FOUND.putIfAbsent(codec.name(), codec);
        }
      } catch (Throwable e) {
        // Of one that is broken all that counts is that it is missing. A class loader may be, too:
        // then this comes again and again.
        broken++;
        System.getLogger(Codecs.class.getName())
            .log(
                System.Logger.Level.WARNING,
                "a codec can't be loaded: {0}",
                UserCode.shown(UserCode.failure(e)));
      }
    }
  }

  /**
   * What compresses and decompresses. Who has taken one with a dictionary gives it back.
   *
   * @param dictionary null for none
   * @throws FormatException if there is no such codec
   */
  static PageCodec.Coder take(String name, byte @Nullable [] dictionary) {
    require(name, "an SSTable");
    PageCodec codec = find(name);
    if (codec == null) {
      throw new IllegalArgumentException(NONE);
    }
    if (dictionary == null) {
      return CODERS.computeIfAbsent(name, any -> codec.coder());
    }
    synchronized (SHARED) {
      Shared shared =
          SHARED.computeIfAbsent(
              new Dictionary(name, ByteBuffer.wrap(dictionary)),
              any -> new Shared(codec.coder(dictionary)));
      shared.users++;
      return shared.coder;
    }
  }

  /** Gives back what was taken with a dictionary. */
  static void give(String name, byte[] dictionary) {
    Shared unused = null;
    synchronized (SHARED) {
      Dictionary key = new Dictionary(name, ByteBuffer.wrap(dictionary));
      Shared shared = SHARED.get(key);
      if (shared != null && --shared.users == 0) {
        SHARED.remove(key);
        unused = shared;
      }
    }
    if (unused != null) {
      unused.coder.close();
    }
  }

  /** How many dictionaries are in use. */
  static int dictionaries() {
    synchronized (SHARED) {
      return SHARED.size();
    }
  }
}
