// Packed columns of times: base64 of compressed bytes, low bytes of a column and then high bytes.

const DECADE = 900, ESTIMATED = 32768;

async function columnsOf(text, count) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let k = 0; k < binary.length; k++) bytes[k] = binary.charCodeAt(k);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const plain = new Uint8Array(await new Response(stream).arrayBuffer());
  const length = plain.length / (2 * count);
  return Array.from({ length: count }, (_, column) => {
    const values = new Uint16Array(length);
    const low = 2 * column * length, high = low + length;
    for (let k = 0; k < length; k++) values[k] = plain[low + k] | (plain[high + k] << 8);
    return values;
  });
}

// A code is 1 + three digits - 100 + 900 for each decade above the smallest; 0 is no time. One that
// was estimated is larger.
function decoder(smallest) {
  const known = new Float64Array(65536).fill(NaN);
  for (let code = 1; code < ESTIMATED; code++) {
    const decade = Math.floor((code - 1) / DECADE) + smallest;
    known[code] = known[code + ESTIMATED] = Number(`${100 + ((code - 1) % DECADE)}e${decade - 2}`);
  }
  return known;
}
