// Numbers, bytes and durations as people read them; bytes that are no text.

const number = new Intl.NumberFormat("en", {maximumFractionDigits: 1});
const compact = new Intl.NumberFormat("en", {notation: "compact", maximumFractionDigits: 1});

export const count = (value) => Number.isFinite(value)
  ? (Math.abs(value) < 100000 ? number : compact).format(value) : "-";
export const percent = (share) => Number.isFinite(share) ? `${number.format(share * 100)} %` : "-";

export function bytes(value) {
  if (!Number.isFinite(value)) return "-";
  const units = ["B", "KB", "MB", "GB", "TB"];
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) { value /= 1024; ++unit; }
  return `${number.format(value)} ${units[unit]}`;
}

// A duration in seconds.
export function duration(seconds) {
  if (!Number.isFinite(seconds)) return "-";
  if (seconds === 0) return "0 s";
  if (seconds < 0) return `-${duration(-seconds)}`;
  if (seconds < 1e-3) return `${number.format(seconds * 1e6)} us`;
  if (seconds < 1) return `${number.format(seconds * 1e3)} ms`;
  if (seconds < 120) return `${number.format(seconds)} s`;
  if (seconds < 7200) return `${number.format(seconds / 60)} min`;
  if (seconds < 172800) return `${number.format(seconds / 3600)} h`;
  return `${number.format(seconds / 86400)} d`;
}

export const instant = (ms) => new Date(ms).toLocaleString();

// A reply's text is a string, or {hex} where its bytes are no UTF-8: those show as \xNN.
export const text = (value) => value !== null && typeof value === "object" && "hex" in value
  ? value.hex.replace(/../g, (pair) => {
    const code = parseInt(pair, 16);
    return code > 32 && code < 127 && code !== 92 ? String.fromCharCode(code) : `\\x${pair}`;
  })
  : String(value);

// A key as people type it: as it is, or with \xNN for bytes that are no text.
export function typed(value) {
  if (!/\\x[0-9a-f]{2}/i.test(value)) return value;
  const hex = (byte) => byte.toString(16).padStart(2, "0");
  let digits = "";
  for (const part of value.split(/(\\x[0-9a-f]{2})/i)) {
    if (/^\\x[0-9a-f]{2}$/i.test(part)) digits += part.slice(2).toLowerCase();
    else digits += Array.from(new TextEncoder().encode(part), hex).join("");
  }
  return {hex: digits};
}
