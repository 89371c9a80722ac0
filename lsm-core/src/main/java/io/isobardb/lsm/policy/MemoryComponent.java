package io.isobardb.lsm.policy;

/**
 * How a tree's write memory is arranged ("Breaking Down Memory Walls in LSM-based Storage Systems",
 * 4.1.1 and 6.1).
 */
public enum MemoryComponent {
  /**
   * A small active SSTable and runs of sealed ones below it, merged now and then; flushed slice by
   * slice. Memory stays full, and what is flushed of a range has gathered many writes.
   */
  PARTITIONED,
  /**
   * One B+-tree as large as memory lets it become, flushed as a whole: the paper's B+-dynamic. No
   * memory is ever merged, and a read asks one tree; but memory is half empty on average.
   */
  MONOLITHIC,
  /**
   * Small active SSTables, of which the sealed ones now and then get one index in the place of
   * theirs; flushed as a whole: the paper's Accordion-index. The entries stay where they are, those
   * that were overwritten too; so a merge takes little work and little room, and frees nothing.
   */
  ACCORDION_INDEX,
  /**
   * Small active SSTables, of which the sealed ones are now and then merged into a single one, data
   * and all; flushed as a whole: the paper's Accordion-data. What a merge leaves is packed and has
   * one version of each key, but there has to be room for it beside its inputs until it is done.
   */
  ACCORDION_DATA,
  /**
   * A small active SSTable above levels of packed SSTables, each up to ten times as large as the
   * one above it: the paper's own. The SSTable of a full level that overlaps least goes down one
   * level. For memory's sake the last level is flushed, in turns; for the log's what keeps it, with
   * what lies below. Memory is packed, and entries are rewritten several times before they are
   * flushed.
   */
  LEVELED
}
