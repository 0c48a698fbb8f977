// Prints the vocabulary of GPT-2 in the form of tiktoken: a token in base64 and its rank in each line.
import { get_encoding } from 'tiktoken';

const encoding = get_encoding('r50k_base');
for (let rank = 0; rank < 50256; rank++) {
  console.log(Buffer.from(encoding.decode_single_token_bytes(rank)).toString('base64'), rank);
}
