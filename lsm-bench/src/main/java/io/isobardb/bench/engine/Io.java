package io.isobardb.bench.engine;

/** Ways to do file I/O, as the command line has them. */
public enum Io {
  direct,
  buffered
}
