package io.isobardb.memory.system;

/** A source of {@link Region}s. */
@FunctionalInterface
public interface SystemMemory {
  /**
   * Takes a region of {@code bytes} bytes, all zeros. May be called by any thread.
   *
   * @throws OutOfMemoryError if the system or the JVM's limit refuses it
   */
  Region take(int bytes);
}
