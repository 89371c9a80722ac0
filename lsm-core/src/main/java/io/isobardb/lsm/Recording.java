package io.isobardb.lsm;

/**
 * A recording of what is done to a store: see {@link Store#startRecording}.
 *
 * <pre>{@code
 * RecordingOptions sample = RecordingOptions.defaults().withOneKeyIn(256);
 * try (Recording recording = store.startRecording(Path.of("noon.recording"), sample)) {
 *   Thread.sleep(60_000); // while others use the store
 *   System.out.println(recording.operations() + " operations, " + recording.bytes() + " bytes");
 * }
 * }</pre>
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public interface Recording extends AutoCloseable {
  /** {@return operations that were recorded so far} */
  long operations();

  /** {@return bytes that the recording takes so far} */
  long bytes();

  /**
   * {@return whether nothing more is recorded: the file has {@link RecordingOptions#maxBytes},
   * could not be written to, or the recording or the store is closed}
   */
  boolean isEnded();

  /**
   * Ends the recording and closes its file. Does nothing if that was done, by the end of the store,
   * too.
   *
   * @throws java.io.UncheckedIOException if the file could not be written to, now or before; the
   *     store goes on as if there had been no recording
   */
  @Override
  void close();
}
