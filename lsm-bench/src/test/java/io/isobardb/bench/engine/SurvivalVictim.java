package io.isobardb.bench.engine;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * The process that {@link SurvivalTest} kills. Puts the records 0, 1, 2 and so on, and after each
 * writes its number to standard output in one system call.
 */
final class SurvivalVictim {
  static final long MEMORY_BYTES = 16 << 20;

  private SurvivalVictim() {}

  /** Arguments: engine, directory, whether writes are synced, how many records to put. */
  public static void main(String[] args) throws IOException, InterruptedException {
    OutputStream out = new FileOutputStream(FileDescriptor.out);
    EngineOptions options =
        new EngineOptions(Path.of(args[1]), MEMORY_BYTES, false, Boolean.parseBoolean(args[2]), 1);
    Engine engine = EngineKind.valueOf(args[0]).open(options);
    Session session = engine.openSession();
    int records = Integer.parseInt(args[3]);
    for (int n = 0; n < records; n++) {
      session.put(0, key(n), key(n));
      out.write((n + "\n").getBytes(StandardCharsets.US_ASCII));
    }
    Thread.sleep(Long.MAX_VALUE);
  }

  static byte[] key(int n) {
    return ByteBuffer.allocate(8).putInt(0x81828384).putInt(n).array();
  }
}
