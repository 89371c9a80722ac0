package io.isobardb.lsm.sstable;

import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.error.UserCode;
import io.isobardb.lsm.event.SystemLog;
import io.isobardb.lsm.option.PageCodec;
import io.isobardb.lsm.setting.Suggestion;
import java.lang.System.Logger.Level;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeSet;
import java.util.WeakHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The codecs of this process by name, and what they compress with. Services are looked for when a
 * name is asked for that is not built in: most stores need none.
 *
 * <p>A program's codecs may be of a class loader that ends before this class does, as when a
 * container has the engine in a loader that applications share. So nothing here keeps such a
 * loader: a codec lies with its class ({@link ClassValue}), and class loaders and classes are
 * referred to weakly. Programs that have codecs of one name each get their own.
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

  /** A codec, and what compresses without a dictionary. */
  private static final class Found {
    private final PageCodec codec;
    private PageCodec.@Nullable Coder coder;

    Found(PageCodec codec) {
      this.codec = codec;
    }

    synchronized PageCodec.Coder coder() {
      PageCodec.Coder made = coder;
      if (made == null) {
        made = codec.coder();
        coder = made;
      }
      return made;
    }
  }

  private static final Found BUILT_IN = new Found(Lz4.CODEC);

  /** What was found of a class. */
  private static final ClassValue<AtomicReference<Found>> FOUND =
      new ClassValue<>() {
        @Override
        protected AtomicReference<Found> computeValue(Class<?> type) {
          return new AtomicReference<>();
        }
      };

  /** Classes of codecs by name, as programs see them by their class loaders. Guarded by itself. */
  private static final Map<ClassLoader, Map<String, WeakReference<Class<?>>>> SEEN =
      new WeakHashMap<>();

  /** For threads that see none: the class that was found last. Guarded by {@link #SEEN}. */
  private static final Map<String, WeakReference<Class<?>>> LAST = new HashMap<>();

  /** Guarded by itself. */
  private static final Map<Dictionary, Shared> SHARED = new HashMap<>();

  private record Dictionary(Class<?> codec, ByteBuffer bytes) {}

  /** What compresses and decompresses, and what it was taken with; null for no dictionary. */
  record Taken(PageCodec.Coder coder, @Nullable Dictionary dictionary) {}

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
    Set<String> broken = new LinkedHashSet<>();
    Found found = found(name, broken);
    if (found == null && !name.equals(NONE)) {
      String where =
          ARTIFACTS.containsKey(name) || !broken.isEmpty()
              ? "; " + remedy(name, broken)
              : Suggestion.among(name, names());
      throw new IllegalArgumentException("there is no codec '" + name + "'" + where);
    }
    return found == null ? null : found.codec;
  }

  /**
   * Passes if what is stored can be read.
   *
   * @param what has pages of that codec, for the message
   * @throws FormatException if there is no such codec; the message says what to add
   */
  public static void require(String name, String what) {
    Set<String> broken = new LinkedHashSet<>();
    if (!name.equals(NONE) && found(name, broken) == null) {
      throw new FormatException(
          what
              + " is compressed by the codec '"
              + name
              + "', which this program does not have; "
              + remedy(name, broken));
    }
  }

  /**
   * @param broken why codecs that are there can't be loaded: it may be one of them
   */
  private static String remedy(String name, Set<String> broken) {
    String mend =
        broken.isEmpty()
            ? ""
            : "mend what can't be loaded (" + String.join("; ", broken) + "), or ";
    String artifact = ARTIFACTS.get(name);
    return mend
        + (artifact != null
            ? "add the artifact "
                + artifact
                + " to it (on the module path, its module io.isobardb.zstd)"
            : "add the library whose service " + PageCodec.class.getName() + " has this name");
  }

  private static Set<String> names() {
    Set<String> names = new TreeSet<>(ARTIFACTS.keySet());
    names.addAll(List.of(NONE, LZ4));
    synchronized (SEEN) {
      LAST.forEach(
          (name, type) -> {
            if (type.get() != null) {
              names.add(name);
            }
          });
    }
    return names;
  }

  /**
   * The codec of this name, or null.
   *
   * @param broken gets why others can't be loaded
   */
  private static @Nullable Found found(String name, Set<String> broken) {
    if (name.equals(LZ4)) {
      return BUILT_IN;
    }
    if (name.equals(NONE)) {
      return null;
    }
    ClassLoader context = Thread.currentThread().getContextClassLoader();
    ClassLoader own = context == null ? ClassLoader.getSystemClassLoader() : context;
    Class<?> type = seen(own, name);
    if (type == null) {
      // The program's own class loader first; a container may have the engine in another one.
      load(own, ServiceLoader.load(PageCodec.class, own), broken);
      load(own, ServiceLoader.load(PageCodec.class, PageCodec.class.getClassLoader()), broken);
      for (String why : broken) {
        SystemLog.tell(Level.WARNING, Codecs.class, () -> "a codec can't be loaded: " + why, null);
      }
      type = seenByAny(own, name);
    }
    return type == null ? null : FOUND.get(type).get();
  }

  private static @Nullable Class<?> seen(ClassLoader own, String name) {
    synchronized (SEEN) {
      return type(SEEN.getOrDefault(own, Map.of()).get(name));
    }
  }

  /** As {@link #seen}, or what another class loader has: it is this one's from now on. */
  private static @Nullable Class<?> seenByAny(ClassLoader own, String name) {
    synchronized (SEEN) {
      Class<?> type = seen(own, name);
      if (type == null) {
        type = type(LAST.get(name));
        if (type != null) {
          see(own, name, type);
        }
      }
      return type;
    }
  }

  private static @Nullable Class<?> type(@Nullable WeakReference<Class<?>> type) {
    return type == null ? null : type.get();
  }

  private static void see(ClassLoader own, String name, Class<?> type) {
    SEEN.computeIfAbsent(own, any -> new HashMap<>()).put(name, new WeakReference<>(type));
  }

  private static void load(ClassLoader own, ServiceLoader<PageCodec> services, Set<String> broken) {
    int failures = 0;
    for (Iterator<PageCodec> each = services.iterator(); failures < MOST_BROKEN; ) {
      try {
        if (!each.hasNext()) {
          return;
        }
        PageCodec codec = each.next();
        String name = codec.name();
        if (PageCodec.isName(name)) {
          add(own, name, codec);
        }
      } catch (Throwable e) {
        // Of one that is broken all that counts is that it is missing. A class loader may be, too:
        // then this comes again and again.
        failures++;
        broken.add(why(UserCode.failure(e)));
      }
    }
  }

  /** A failure with what caused it: the JDK's error for a service says which one it is, not why. */
  private static String why(Throwable failure) {
    Throwable cause =
        failure.getClass() == ServiceConfigurationError.class ? failure.getCause() : null;
    return UserCode.shown(failure) + (cause == null ? "" : ": " + UserCode.shown(cause));
  }

  /** The first one of a name counts. */
  private static void add(ClassLoader own, String name, PageCodec codec) {
    Class<?> type = codec.getClass();
    synchronized (SEEN) {
      if (seen(own, name) == null) {
        FOUND.get(type).compareAndSet(null, new Found(codec));
        see(own, name, type);
        LAST.put(name, new WeakReference<>(type));
      }
    }
  }

  /**
   * What compresses and decompresses. Who has taken it {@linkplain #give gives} it back.
   *
   * @param dictionary null for none
   * @throws FormatException if there is no such codec
   */
  static Taken take(String name, byte @Nullable [] dictionary) {
    require(name, "an SSTable");
    Found found = found(name, new LinkedHashSet<>());
    if (found == null) {
      throw new IllegalArgumentException(NONE);
    }
    if (dictionary == null) {
      return new Taken(found.coder(), null);
    }
    Dictionary key = new Dictionary(found.codec.getClass(), ByteBuffer.wrap(dictionary));
    synchronized (SHARED) {
      Shared shared = SHARED.computeIfAbsent(key, any -> new Shared(found.codec.coder(dictionary)));
      shared.users++;
      return new Taken(shared.coder, key);
    }
  }

  /** Gives back what was taken. */
  static void give(Taken taken) {
    Dictionary key = taken.dictionary;
    if (key == null) {
      return;
    }
    Shared unused = null;
    synchronized (SHARED) {
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
