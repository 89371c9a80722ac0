package io.isobardb.bench.engine;

import java.util.Map;

/**
 * An open engine. Thread-safe; threads do their operations through a {@link Session} each.
 *
 * <p>Closing the engine requires all sessions closed.
 */
public interface Engine extends AutoCloseable {

  /** Opens a session for the calling thread alone. */
  Session openSession();

  /**
   * Waits until no merge and no flush is running or due. Does not force what is in memory to disk.
   */
  void settle();

  /** Bytes the engine's files hold now. */
  long spaceBytes();

  /**
   * Bytes of buffers, caches and metadata the engine says it holds now, off-heap or on; -1 if it
   * can't say.
   */
  long memoryBytes();

  /** The effective settings, for people. */
  String configuration();

  /**
   * The engine's own figures, by name, in the order to show them; what is not known is left out.
   */
  Map<String, Object> stats();

  @Override
  void close();
}
