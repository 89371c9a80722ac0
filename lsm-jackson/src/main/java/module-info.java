/** Values as JSON: {@link io.isobardb.jackson.JacksonCodec}. */
module io.isobardb.jackson {
  requires transitive io.isobardb.dataset;
  requires transitive com.fasterxml.jackson.core;
  requires transitive com.fasterxml.jackson.databind;
  requires static org.jspecify;

  exports io.isobardb.jackson;
}
