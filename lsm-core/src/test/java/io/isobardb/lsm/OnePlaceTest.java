package io.isobardb.lsm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Rules over stored entries stand in one place each. Beside each other class that comes near one
 * stands why. The sources are searched, since compiled classes don't tell where a constant is from.
 */
@Tag("any-jdk")
class OnePlaceTest {
  private static final List<Path> SOURCES =
      List.of(
          Path.of("src/main/java/io/isobardb/lsm"),
          Path.of("../lsm-repair/src/main/java/io/isobardb/repair"));

  /** Without comments and imports. */
  private static Map<String, String> sources() throws IOException {
    Map<String, String> sources = Sources.of(SOURCES);
    sources.replaceAll((name, text) -> text.replaceAll("(?m)^import [^\n]*", ""));
    return sources;
  }

  private static Set<String> naming(String pattern) throws IOException {
    Pattern sought = Pattern.compile(pattern);
    Set<String> names = new TreeSet<>();
    sources()
        .forEach(
            (name, text) -> {
              if (sought.matcher(text).find()) {
                names.add(name);
              }
            });
    return names;
  }

  private static void only(Map<String, String> reasons, String pattern) throws IOException {
    assertEquals(new TreeSet<>(reasons.keySet()), naming(pattern), pattern);
  }

  @Test
  void howAnEntryExpiresIsTakenApartInKind() throws IOException {
    only(
        Map.ofEntries(
            Map.entry("entry/Kind", "the place"),
            Map.entry("expiry/Expiry", "the number itself"),
            Map.entry("entry/LeafCursor", "holds the kind of the entry it stands on"),
            Map.entry("entry/Probe", "judges"),
            Map.entry("component/LeafWriter", "writes entries into leaves"),
            Map.entry("component/FirstEntries", "keeps entries that are not in a leaf yet"),
            Map.entry("component/Write", "what is going to be stored"),
            Map.entry("commit/BatchFormat", "the log has kinds of its own, and lies on the heap"),
            Map.entry("operand/Operands", "what a batch merges with may expire by itself"),
            Map.entry("sstable/PageReader", "entries without expiry are not measured"),
            Map.entry("sstable/SSTableWriter", "writes entries into pages"),
            Map.entry("format/PageCheck", "doubts kinds"),
            Map.entry("format/SSTableCheck", "counts what expires"),
            Map.entry("transaction/OwnCursor", "its entries are stored nowhere"),
            Map.entry("salvage/SalvagedTree", "looks whether a value fits into a page")),
        "Kind\\.(EXPIRES|expires|plain|stored)\\b|EXPIRES =|Expiry\\.(BYTES|get|put|bytes)\\b"
            + "|static long get\\(");
  }

  @Test
  void whetherSomethingHasExpiredIsAskedOfExpiry() throws IOException {
    only(
        Map.of("expiry/Expiry", "the place"),
        "(?i)\\bexpir(y|es)(\\(\\))? *(<=|<|>|>=) *(?!0)[a-z]|<= *\\w*expir(y|es)\\b");
  }

  @Test
  void whoseValueNeedsOlderOnesIsAskedByFew() throws IOException {
    only(
        Map.of(
            "entry/Probe", "judges",
            "entry/StayingVersions", "what is below an operand stays",
            "component/LeafWriter", "counts operands of a key",
            "merge/Rewrite", "hands operands to the folder",
            "format/TableSalvage", "tells repair",
            "StoreInspector", "tells users"),
        "Kind\\.isOperand\\b");
  }

  @Test
  void whichKindsArePutsAndDeletesIsToldByKind() throws IOException {
    only(
        Map.of(
            "entry/Kind", "the place",
            "commit/BatchFormat", "in the log a delete has no value"),
        "[=!]= (Kind\\.)?DELETE\\b");
    only(
        Map.of(
            "entry/Kind", "the place",
            "entry/Probe", "a fast way, with all kinds behind it",
            "component/LeafEntryCursor", "a fast way, with all kinds behind it",
            "sstable/SSTableCursor", "a fast way, with all kinds behind it"),
        "[=!]= (Kind\\.)?PUT\\b");
  }

  @Test
  void whichVersionsStayIsAskedByLeavesMergesAndCopies() throws IOException {
    only(
        Map.of(
            "component/LeafWriter", "walks the slots of a leaf",
            "recovery/StoreImage", "walks what a copy takes from memory",
            "entry/VersionFilter", "walks the entries of a merge"),
        "StayingVersions\\.");
    only(
        Map.of(
            "component/Visibility", "declares it",
            "component/LeafWriter", "hands it to the rule",
            "commit/Snapshots", "knows it"),
        "newestSnapshot\\(\\)");
  }

  /** Numbers in classes that fold, which are about something else. */
  private static final Map<String, String> NO_THRESHOLDS =
      Map.ofEntries(
          Map.entry("component/LeafWriter.LEFT_SHARE", "when a leaf that was pruned is split"),
          Map.entry("commit/OperandFolding.SLOTS", "counters that keys share"),
          Map.entry("commit/OperandReader.MAX_ATTEMPTS", "reads without a page"),
          Map.entry("merge/Folded.NONE", "a kind"),
          Map.entry("operand/OperandChain.MAX_VALUE_BYTES", "the longest value"),
          Map.entry("merge/Rewrite.ENTRY_OVERHEAD", "how long a step is"));

  @Test
  void thresholdsOfFoldingAreInFoldRules() throws IOException {
    Pattern number = Pattern.compile("static final (?:int|long|double) (\\w+)");
    Set<String> found = new TreeSet<>();
    sources()
        .forEach(
            (name, text) -> {
              boolean folds =
                  name.matches(".*/(LeafWriter|Rewrite|Fold(er|ed)|Operand(Folding|Reader|Chain))");
              Matcher numbers = number.matcher(text);
              while (folds && numbers.find()) {
                found.add(name + "." + numbers.group(1));
              }
            });
    assertEquals(new TreeSet<>(NO_THRESHOLDS.keySet()), found);
    only(
        Map.of(
            "option/MergeOperator", "promises it to users",
            "operand/OperandChain", "calls the operator"),
        "MAX_OPERANDS");
  }

  @Test
  void whenToSealIsAskedOfSealing() throws IOException {
    assertEquals(Set.of(), naming("class Sealer(?s:.*)static final (int|long)"));
    only(
        Map.of(
            "commit/Sealing", "the place",
            "commit/Sealer", "asks it for full ones, and before range deletes",
            "flush/Flusher", "asks it before a flush"),
        "\\bseals(ForFlush|ForRange)?\\((?!\\))");
  }

  @Test
  void theSettledLsnIsWorkedOutInTheCatalog() throws IOException {
    only(Map.of("state/Catalog", "the place"), "durable(\\(\\)|\\.getAsLong\\(\\)) - 1");
  }
}
