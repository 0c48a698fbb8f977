// Package tokens counts the tokens of a text, as GPT-2 divides it: the number in FineWeb's token_count. The vocabulary
// is a file of the user, r50k_base.tiktoken.
//
//	text --> pieces: words, numbers, signs, white space --> bytes, joined pair by pair, lowest rank first --> tokens
//
// It gives no token numbers, and knows no special tokens. A line of the file has a token in base64, and its rank.
//
// A Vocabulary is not changed after Open, so goroutines may share it: some 5 MB. A Counter belongs to one goroutine.
// The time for a text grows with n log n of its longest piece, at most.
//
// # Promises
//
//   - TK1: the number is that of the tokens that the pieces have if the pair with the lowest rank, the first one of
//     several, is joined again and again.
package tokens
