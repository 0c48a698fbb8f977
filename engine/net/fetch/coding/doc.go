// Package coding removes content encodings (RFC 9110, section 8.4): gzip, deflate, brotli and zstd. A hostile
// body costs bounded memory and CPU time; docs/hostile.md has the attacks.
//
//   - Decoder decodes one body at a time: Reset, Add for each header value, Decode. It has the buffers, so each parse
//     worker has its own.
//   - Options are its limits.
//   - Fault says what is wrong with a body. A fault is never fatal: there are always bytes to parse.
//
// The header is believed only if the first bytes agree (Decoder.remove). The limits apply in Decoder.run for DEFLATE,
// whose decoder reports its cost, and in Decoder.decodeOpaque for brotli and zstd, whose decoders do not.
package coding
