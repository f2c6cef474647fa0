// Numbers and names as people read them.

const NARROW_SPACE = '\u202f';
const MINUS = '\u2212';

function formatCount(value) {
    return Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, NARROW_SPACE);
}

// Three digits and a unit; below 1,000 whole numbers.
function scaled(value, step, units) {
    let unit = 0;
    while (value >= step - 0.5 && unit + 1 < units.length) {
        value /= step;
        unit++;
    }
    const digits = unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    return value.toFixed(digits) + NARROW_SPACE + units[unit];
}

function formatBytes(value) {
    return scaled(value, 1000, ['B', 'kB', 'MB', 'GB', 'TB', 'PB']);
}

function formatObjects(value) {
    return scaled(value, 1000, ['', 'k', 'M', 'G', 'T']).trim();
}

function formatMeasure(value, measure) {
    return measure === 'bytes' ? formatBytes(value) : formatObjects(value);
}

function formatDelta(value, measure) {
    if (!value)
        return '=';
    return (value > 0 ? '+' : MINUS) + formatMeasure(Math.abs(value), measure);
}

function formatShare(part, whole) {
    if (!whole)
        return '–';
    const percent = 100 * part / whole;
    if (percent > 0 && percent < 0.05)
        return '<0.1' + NARROW_SPACE + '%';
    return percent.toFixed(1) + NARROW_SPACE + '%';
}

function formatTime(ns) {
    const seconds = ns / 1e9;
    if (seconds < 1)
        return (ns / 1e6).toFixed(seconds < 0.01 ? 2 : 0) + NARROW_SPACE + 'ms';
    if (seconds < 120)
        return seconds.toFixed(seconds < 10 ? 2 : 1) + NARROW_SPACE + 's';
    const minutes = Math.floor(seconds / 60);
    const rest = Math.floor(seconds % 60).toString().padStart(2, '0');
    return minutes < 60 ? `${minutes}:${rest}`
        : `${Math.floor(minutes / 60)}:${(minutes % 60).toString().padStart(2, '0')}:${rest}`;
}

// From powers of two: "32 to 63 B".
function formatSizeClass(power) {
    return power < 10 ? `${2 ** power}–${2 ** (power + 1) - 1}${NARROW_SPACE}B`
        : `${formatBinary(power)} – ${formatBinary(power + 1)}`;
}

function formatBinary(power) {
    const unit = Math.floor(power / 10);
    return 2 ** (power - unit * 10) + NARROW_SPACE + ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'][unit];
}

// Letters that would turn around or hide what stands beside them are shown as what they are.
function clean(text) {
    return text.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g,
        letter => '\\u' + letter.charCodeAt(0).toString(16).padStart(4, '0'));
}

// Cut in the middle, so that the method at the end and the beginning stay.
function cutMiddle(text, most) {
    if (text.length <= most)
        return text;
    if (most < 4)
        return '';
    const end = Math.ceil((most - 1) * 0.6);
    return text.slice(0, most - 1 - end) + '…' + text.slice(text.length - end);
}
