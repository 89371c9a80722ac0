package io.isobardb.repair.format;

import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.error.Finding;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.sstable.KeyHash;
import io.isobardb.lsm.sstable.MemorySink;
import io.isobardb.lsm.sstable.PageLayout;
import io.isobardb.lsm.sstable.PageReader;
import io.isobardb.lsm.sstable.SSTable;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.memory.cache.Access;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads a whole SSTable and says what is wrong with it: checksums of all pages, header and footer,
 * order, separators, filter, and what its {@link SSTableMeta} says.
 *
 * <p>Thread rule: one thread; the caller holds a reference to the SSTable. Data and index pages are
 * read past the cache.
 */
public final class SSTableCheck {
  private static final int MOST_FINDINGS = 100;

  private final SSTable table;
  private final SSTableMeta meta;
  private final PagePool pool;
  private final int pageSize;
  private final List<Finding> findings = new ArrayList<>();

  private long entries;
  private long deletes;
  private SSTableMeta.Expiring expiring = SSTableMeta.Expiring.NONE;
  private long minLsn = Long.MAX_VALUE;
  private long maxLsn = Long.MIN_VALUE;
  private byte[] lastKey = new byte[0];
  private long lastLsn;
  private byte @Nullable [] firstKey;

  private SSTableCheck(SSTable table) {
    this.table = table;
    this.meta = table.meta();
    this.pool = table.space().pool();
    this.pageSize = pool.pageSize();
  }

  /** What is wrong; empty if nothing is. At most 100 findings. */
  public static List<Finding> check(SSTable table) {
    return check(table, true);
  }

  /** As {@link #check}, but without what depends on the order of keys, which is not known. */
  public static List<Finding> checkPages(SSTable table) {
    return check(table, false);
  }

  private static List<Finding> check(SSTable table, boolean contents) {
    SSTableCheck check = new SSTableCheck(table);
    try {
      if (!table.isInMemory()) {
        check.checkFile();
      }
      if (contents && check.findings.isEmpty()) {
        check.walk(check.meta.rootPage(), check.meta.indexHeight(), new byte[0], Lsn.MAX, true);
        check.compareMeta();
      }
    } catch (IOException | UncheckedIOException | IsobarException | IndexOutOfBoundsException e) {
      check.find(e);
    }
    return List.copyOf(check.findings);
  }

  private void find(Finding finding) {
    // A file of the wrong length is told once, not for each of its pages.
    if (findings.size() < MOST_FINDINGS
        && (findings.isEmpty() || !findings.get(findings.size() - 1).equals(finding))) {
      findings.add(finding);
    }
  }

  private void find(Exception e) {
    find(Finding.of(meta.fileName(), e));
  }

  private void find(int pageNo, String what) {
    long offset = Finding.WHOLE_FILE;
    try {
      if (!table.isInMemory()) {
        offset = table.file().offset(pageNo);
      }
    } catch (IOException e) {
      find(e);
    }
    find(new Finding(meta.fileName(), offset, "page " + pageNo + " " + what));
  }

  /** Reads every page of the file, and checks header and footer. */
  private void checkFile() throws IOException {
    int page = MemorySink.allocate(pool, Purpose.MERGE);
    try {
      Memory memory = pool.memory(page);
      int base = pool.base(page);
      // Before its pages are asked for: a file of another size has other ones.
      table.file().checkFormat(memory, base);
      for (int pageNo = 0; pageNo < meta.pageCount(); pageNo++) {
        try {
          table.file().read(pageNo, memory, base);
          if (pageNo == 0) {
            FileMeta.checkHeader(memory, base, table.space(), meta);
          }
          if (pageNo == (meta.footerInHeader() ? 0 : meta.pageCount() - 1)) {
            checkFooter(memory, base);
          }
        } catch (IsobarException e) {
          find(e);
        }
      }
      if (meta.isPacked() && findings.isEmpty()) {
        checkGap(memory, base);
      }
    } finally {
      pool.release(page, Purpose.MERGE);
    }
  }

  /** Between the last compressed page and the page map there are only zeros. */
  private void checkGap(Memory memory, int base) throws IOException {
    long end = table.file().storedOffset(meta.pageMapPage(), Access.MERGE);
    int skip = (int) (end & (DataFile.BLOCK - 1));
    if (skip != 0) {
      table.file().readFully(end - skip, memory, base, DataFile.BLOCK);
      for (int i = skip; i < DataFile.BLOCK; i++) {
        if (memory.getByte(base + i) != 0) {
          find(new Finding(meta.fileName(), end - skip + i, "nothing uses it, but it is not zero"));
          return;
        }
      }
    }
  }

  private void checkFooter(Memory memory, int base) {
    String name = meta.fileName();
    long offset = meta.footerInHeader() ? 0 : meta.sizeBytes() - pageSize;
    SSTableMeta stored =
        meta.footerInHeader()
            ? FileMeta.footerInHeader(memory, base, pageSize, name)
            : FileMeta.footer(memory, base, pageSize, name, offset);
    boolean same =
        Arrays.equals(stored.minKey(), meta.minKey())
            && Arrays.equals(stored.maxKey(), meta.maxKey())
            && withLsns(stored, meta).equals(meta);
    if (!same) {
      find(new Finding(meta.fileName(), offset, "says " + stored + ", the manifest " + meta));
    }
  }

  /**
   * Records compare arrays by identity: the same values with the other's arrays. If all entries
   * have one LSN, the manifest may know of a later one than the file: that of a bulk load's commit.
   * And what expires is known to the manifest alone.
   */
  private static SSTableMeta withLsns(SSTableMeta meta, SSTableMeta keys) {
    boolean later =
        meta.minLsn() == meta.maxLsn()
            && keys.minLsn() == keys.maxLsn()
            && keys.minLsn() > meta.minLsn();
    long lsn = later ? keys.minLsn() : -1;
    return new SSTableMeta(
        meta.fileNumber(),
        meta.treeId(),
        meta.pageCount(),
        meta.entries(),
        meta.deletes(),
        keys.minKey(),
        keys.maxKey(),
        later ? lsn : meta.minLsn(),
        later ? lsn : meta.maxLsn(),
        meta.rootPage(),
        meta.indexHeight(),
        meta.filterPage(),
        meta.filterBlocks(),
        meta.sizeBytes(),
        meta.packing(),
        meta.pageMapPage(),
        keys.expiring());
  }

  /** Checks a page and all below it; the first key of the page is not before the separator. */
  private void walk(int pageNo, int level, byte[] separator, long separatorLsn, boolean leftmost)
      throws IOException {
    int page = MemorySink.allocate(pool, Purpose.MERGE);
    try {
      Memory memory = pool.memory(page);
      int base = pool.base(page);
      if (table.isInMemory()) {
        int shared = table.page(pageNo);
        memory.copyFrom(base, pool.memory(shared), pool.base(shared), pageSize);
      } else {
        table.file().read(pageNo, memory, base);
      }
      int type = memory.getByte(base + PageLayout.TYPE);
      int count = PageReader.count(memory, base);
      if (type != (level > 0 ? PageLayout.INDEX : PageLayout.DATA) || count == 0) {
        find(pageNo, "has type " + type + " and " + count + " slots");
        return;
      }
      String problem = PageCheck.problem(memory, base, pageSize);
      if (problem != null) {
        find(pageNo, problem);
        return;
      }
      if (level == 0) {
        checkData(pageNo, memory, base, leftmost ? null : separator, separatorLsn);
        return;
      }
      for (int slot = 0; slot < count; slot++) {
        byte[] key = key(memory, base, slot);
        int entry = PageReader.entry(memory, base, slot);
        long lsn = PageReader.lsn(memory, base, entry);
        int child = PageReader.child(memory, base, slot);
        if (PageReader.kind(memory, base, entry) != Kind.CHILD
            || child <= 0
            || child >= pageNo
            || (entries > 0 && compare(lastKey, lastLsn, key, lsn) >= 0)) {
          find(pageNo, "slot " + slot + ": a separator out of place");
          continue;
        }
        boolean first = slot == 0;
        walk(
            child,
            level - 1,
            first ? separator : key,
            first ? separatorLsn : lsn,
            leftmost && first);
      }
    } finally {
      pool.release(page, Purpose.MERGE);
    }
  }

  /**
   * @param separator what the page's first key must not come before; null if there is nothing
   */
  private void checkData(
      int pageNo, Memory memory, int base, byte @Nullable [] separator, long separatorLsn) {
    int count = PageReader.count(memory, base);
    for (int slot = 0; slot < count; slot++) {
      byte[] key = key(memory, base, slot);
      int entry = PageReader.entry(memory, base, slot);
      long lsn = PageReader.lsn(memory, base, entry);
      int kind = PageReader.kind(memory, base, entry);
      String where = "slot " + slot + ": ";
      if (!Kind.isData(kind)) {
        find(pageNo, where + Kind.unknown(kind));
      }
      if (slot == 0 && separator != null && compare(separator, separatorLsn, key, lsn) > 0) {
        find(pageNo, where + "before its separator");
      }
      boolean sameKey = firstKey != null && Arrays.equals(lastKey, key);
      if (firstKey != null && compare(lastKey, lastLsn, key, lsn) >= 0) {
        find(pageNo, where + "out of order");
      }
      if (PageReader.lowerBound(memory, base, key, 0, key.length, lsn, table.order()) != slot) {
        find(pageNo, where + "a search does not find it");
      }
      if (!sameKey && !inFilter(KeyHash.hash(key, 0, key.length))) {
        find(pageNo, where + "not in the filter");
      }
      if (Kind.isOverflow(kind)) {
        checkOverflow(where, memory, base, entry, pageNo);
      }
      if (Kind.expires(kind)) {
        expiring = expiring.with(PageReader.expiry(memory, base, entry));
      }
      note(key, lsn, kind);
    }
  }

  private void note(byte[] key, long lsn, int kind) {
    if (firstKey == null) {
      firstKey = key;
    }
    lastKey = key;
    lastLsn = lsn;
    entries++;
    if (Kind.isDelete(kind)) {
      deletes++;
    }
    minLsn = Math.min(minLsn, lsn);
    maxLsn = Math.max(maxLsn, lsn);
  }

  private void checkOverflow(String where, Memory memory, int base, int entry, int pageNo) {
    int first = PageReader.overflowPage(memory, base, entry);
    int length = PageReader.overflowLength(memory, base, entry);
    int start = PageReader.overflowStart(memory, base, entry);
    int pages = PageLayout.overflowPages(pageSize, start, length);
    if (length < 0 || first <= 0 || pages > pageNo - first) {
      find(pageNo, where + "a value of " + length + " bytes in pages from " + first);
      return;
    }
    for (int i = first; i < first + pages; i++) {
      if (type(i) != PageLayout.OVERFLOW) {
        find(pageNo, where + "page " + i + " is no overflow page");
      }
    }
  }

  private int type(int pageNo) {
    int page = table.loadPage(pageNo, Access.MERGE);
    try {
      return pool.memory(page).getByte(pool.base(page) + PageLayout.TYPE);
    } finally {
      table.unpin(pageNo);
    }
  }

  private boolean inFilter(long hash) {
    int answer = probe(hash);
    while (SSTable.isMiss(answer)) {
      int pageNo = SSTable.missedPage(answer);
      table.loadPage(pageNo, Access.MERGE);
      answer = probe(hash);
      table.unpin(pageNo);
    }
    return answer == SSTable.MAYBE;
  }

  private int probe(long hash) {
    int epoch = pool.epochs().enter();
    int answer = table.mayContain(hash, true);
    pool.epochs().exit(epoch);
    return answer;
  }

  private int compare(byte[] a, long aLsn, byte[] b, long bLsn) {
    int c = table.order().compare(a, 0, a.length, b, 0, b.length);
    return c != 0 ? c : Long.compare(bLsn, aLsn);
  }

  private static byte[] key(Memory memory, int base, int slot) {
    byte[] key = new byte[PageReader.keyLength(memory, base, slot)];
    PageReader.copyKey(memory, base, slot, key);
    return key;
  }

  private void compareMeta() {
    boolean sameKeys =
        Arrays.equals(firstKey, meta.minKey()) && Arrays.equals(lastKey, meta.maxKey());
    if (entries != meta.entries()
        || deletes != meta.deletes()
        || minLsn != meta.minLsn()
        || maxLsn != meta.maxLsn()
        || !expiring.equals(meta.expiring())
        || !sameKeys) {
      find(
          Finding.of(
              meta.fileName(),
              "holds "
                  + entries
                  + " entries, "
                  + deletes
                  + " deletes, LSNs "
                  + minLsn
                  + " to "
                  + maxLsn
                  + "; its description says "
                  + meta.entries()
                  + ", "
                  + meta.deletes()
                  + ", "
                  + meta.minLsn()
                  + " to "
                  + meta.maxLsn()
                  + (expiring.equals(meta.expiring())
                      ? ""
                      : ", and " + expiring + " instead of " + meta.expiring())
                  + (sameKeys ? "" : ", and other first or last keys")));
    }
  }
}
