package io.isobardb.bench.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class MappedMemoryTest {
  @TempDir Path temp;

  @Test
  void onlyWhatIsResidentOfTheNamedMappingsCounts() {
    Stream<String> lines =
        Stream.of(
            "7f1000-7f2000 rw-p 00000000 08:01 12 /tmp/.isobar-memory-7-0 (deleted)",
            "Size:               4096 kB",
            "Rss:                  12 kB",
            "VmFlags: rd wr mr",
            "7f2000-7f3000 rw-p 00000000 00:00 0 ",
            "Rss:                  64 kB",
            "7f3000-7f4000 rw-p 00000000 08:01 12 /tmp/.isobar-memory-7-0 (deleted)",
            "Rss:                   8 kB");
    assertEquals(20 << 10, MappedMemory.residentBytes(lines, ".isobar-memory-"));
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void aMappingOfThisProcessIsResidentOnceItIsWrittenTo() throws Exception {
    Path file = Files.createFile(temp.resolve("mapped-for-a-test"));
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      var mapped = channel.map(FileChannel.MapMode.PRIVATE, 0, 1 << 20);
      for (int at = 0; at < mapped.capacity(); at += 4096) {
        mapped.put(at, (byte) 1);
      }
      long resident = MappedMemory.residentBytes("mapped-for-a-test");
      assertTrue(resident >= 1 << 20 && resident <= 2 << 20, resident + " bytes");
      mapped.put(0, (byte) 2);
    }
  }
}
