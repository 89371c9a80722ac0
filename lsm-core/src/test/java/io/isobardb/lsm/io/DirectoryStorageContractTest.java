package io.isobardb.lsm.io;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

final class DirectoryStorageContractTest extends StorageContractTest {
  @TempDir Path dir;

  @Override
  Storage storage() throws IOException {
    return DirectoryStorage.open(dir, false);
  }
}
