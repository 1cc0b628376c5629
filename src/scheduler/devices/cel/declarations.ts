import { type CelType, celTypes, listType, mapType, optionalType, parameterType, structType, typeType } from './cel-types.ts';

/** One form of a function: what it takes and gives. */
export interface CelOverload {
  readonly id: string;
  readonly method: boolean;
  readonly takes: readonly CelType[];
  readonly gives: CelType;
  /** The parameters that stand for any type. */
  readonly free: readonly string[];
}

// The first form that fits decides what an unknown type becomes, so their order is upstream's.
const comparable = ['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes'];
const numbers = ['int', 'uint', 'double'];
const orders = { less: '_<_', less_equals: '_<=_', greater: '_>_', greater_equals: '_>=_' };

/**
 * Each line: the function, then its forms, `ID(TYPE,...)TYPE`; a method's begins with a point. No value is a duration or a timestamp:
 * their forms are here because null fits them, so that `null < null` is an expression, which fails when it is evaluated.
 */
const declared = `
_?_:_ conditional(bool,A,A)A
_&&_ logical_and(bool,bool)bool
_||_ logical_or(bool,bool)bool
!_ logical_not(bool)bool
@not_strictly_false not_strictly_false(bool)bool
_==_ equals(A,A)bool
_!=_ not_equals(A,A)bool
_+_ add_bytes(bytes,bytes)bytes add_double(double,double)double add_duration_duration(duration,duration)duration
_+_ add_duration_timestamp(duration,timestamp)timestamp add_timestamp_duration(timestamp,duration)timestamp
_+_ add_int64(int,int)int add_list(list(A),list(A))list(A)
_+_ add_string(string,string)string add_uint64(uint,uint)uint
_-_ subtract_double(double,double)double subtract_duration_duration(duration,duration)duration subtract_int64(int,int)int
_-_ subtract_timestamp_duration(timestamp,duration)timestamp subtract_timestamp_timestamp(timestamp,timestamp)duration
_-_ subtract_uint64(uint,uint)uint
_*_ multiply_double(double,double)double multiply_int64(int,int)int multiply_uint64(uint,uint)uint
_/_ divide_double(double,double)double divide_int64(int,int)int divide_uint64(uint,uint)uint
_%_ modulo_int64(int,int)int modulo_uint64(uint,uint)uint
-_ negate_double(double)double negate_int64(int)int
_[_] index_list(list(A),int)A index_map(map(A,B),A)B
_[_] optional_list_index_int(optional(list(V)),int)optional(V) optional_map_index_value(optional(map(K,V)),K)optional(V)
_[?_] list_optindex_optional_int(list(V),int)optional(V) optional_list_optindex_optional_int(optional(list(V)),int)optional(V)
_[?_] map_optindex_optional_value(map(K,V),K)optional(V)
_[?_] optional_map_optindex_optional_value(optional(map(K,V)),K)optional(V)
@in in_list(A,list(A))bool in_map(A,map(A,B))bool
size size_bytes(bytes)int .bytes_size(bytes)int size_list(list(A))int .list_size(list(A))int
size size_map(map(A,B))int .map_size(map(A,B))int size_string(string)int .string_size(string)int
type type(A)type(A)
bool bool_to_bool(bool)bool string_to_bool(string)bool
bytes bytes_to_bytes(bytes)bytes string_to_bytes(string)bytes
double double_to_double(double)double int64_to_double(int)double string_to_double(string)double uint64_to_double(uint)double
dyn to_dyn(A)dyn
int int64_to_int64(int)int double_to_int64(double)int duration_to_int64(duration)int string_to_int64(string)int
int timestamp_to_int64(timestamp)int uint64_to_int64(uint)int
string string_to_string(string)string bool_to_string(bool)string bytes_to_string(bytes)string double_to_string(double)string
string duration_to_string(duration)string timestamp_to_string(timestamp)string
string int64_to_string(int)string uint64_to_string(uint)string
uint uint64_to_uint64(uint)uint double_to_uint64(double)uint int64_to_uint64(int)uint string_to_uint64(string)uint
contains .contains_string(string,string)bool
endsWith .ends_with_string(string,string)bool
startsWith .starts_with_string(string,string)bool
matches matches(string,string)bool .matches_string(string,string)bool
optional.of optional_of(V)optional(V)
optional.ofNonZeroValue optional_ofNonZeroValue(V)optional(V)
optional.none optional_none()optional(V)
value .optional_value(optional(V))V
hasValue .optional_hasValue(optional(V))bool
or .optional_or_optional(optional(V),optional(V))optional(V)
orValue .optional_orValue_value(optional(V),V)V
first .list_first(list(V))optional(V)
last .list_last(list(V))optional(V)
optional.unwrap optional_unwrap(list(optional(V)))list(V)
unwrapOpt .optional_unwrapOpt(list(optional(V)))list(V)
charAt .string_char_at_int(string,int)string
indexOf .list_a_index_of_int(list(A),A)int
indexOf .string_index_of_string(string,string)int .string_index_of_string_int(string,string,int)int
lastIndexOf .list_a_last_index_of_int(list(A),A)int
lastIndexOf .string_last_index_of_string(string,string)int .string_last_index_of_string_int(string,string,int)int
lowerAscii .string_lower_ascii(string)string
upperAscii .string_upper_ascii(string)string
replace .string_replace_string_string(string,string,string)string
replace .string_replace_string_string_int(string,string,string,int)string
split .string_split_string(string,string)list(string) .string_split_string_int(string,string,int)list(string)
substring .string_substring_int(string,int)string .string_substring_int_int(string,int,int)string
trim .string_trim(string)string
join .list_join(list(string))string .list_join_string(list(string),string)string
strings.quote strings_quote(string)string
find .string_find_string(string,string)string
findAll .string_find_all_string(string,string)list(string) .string_find_all_string_int(string,string,int)list(string)
sets.contains list_sets_contains_list(list(T),list(T))bool
sets.equivalent list_sets_equivalent_list(list(T),list(T))bool
sets.intersects list_sets_intersects_list(list(T),list(T))bool
slice .list_slice(list(T),int,int)list(T)
flatten .list_flatten(list(list(T)))list(T) .list_flatten_int(list(dyn),int)list(dyn)
lists.range lists_range(int)list(int)
reverse .list_reverse(list(T))list(T)
distinct .list_distinct(list(T))list(T)
cel.@mapInsert @mapInsert_map_key_value(map(K,V),K,V)map(K,V) @mapInsert_map_map(map(K,V),map(K,V))map(K,V)
quantity string_to_quantity(string)quantity
isQuantity is_quantity_string(string)bool
sign quantity_sign(quantity)int
isGreaterThan .quantity_is_greater_than(quantity,quantity)bool .semver_is_greater_than(semver,semver)bool
isLessThan .quantity_is_less_than(quantity,quantity)bool .semver_is_less_than(semver,semver)bool
compareTo .quantity_compare_to(quantity,quantity)int .semver_compare_to(semver,semver)int
asApproximateFloat .quantity_get_float(quantity)double
asInteger .quantity_get_int(quantity)int
isInteger .quantity_is_integer(quantity)bool
add .quantity_add(quantity,quantity)quantity .quantity_add_int(quantity,int)quantity
sub .quantity_sub(quantity,quantity)quantity .quantity_sub_int(quantity,int)quantity
semver string_to_semver(string)semver string_bool_to_semver(string,bool)semver
isSemver is_semver_string(string)bool is_semver_string_bool(string,bool)bool
major .semver_major(semver)int
minor .semver_minor(semver)int
patch .semver_patch(semver)int
`;

const forEachType = [
  ...Object.entries(orders).map(([word, name]) => `${name} ${orderForms(word)}`),
  ...comparable.flatMap((type) => [
    `sort .list_${type}_sort(list(${type}))list(${type})`,
    `@sortByAssociatedKeys .list_${type}_sortByAssociatedKeys(list(T),list(${type}))list(T)`,
    `isSorted .list_${type}_is_sorted_bool(list(${type}))bool`,
    `min .list_${type}_min_${type}(list(${type}))${type}`,
    `max .list_${type}_max_${type}(list(${type}))${type}`,
  ]),
  ...[...numbers, 'duration'].map((type) => `sum .list_${type}_sum_${type}(list(${type}))${type}`),
];

function orderForms(word: string): string {
  const ids: Readonly<Record<string, string>> = { int: 'int64', uint: 'uint64', double: 'double' };
  const same = (type: string): string => `${word}_${type}(${type},${type})bool`;
  const others: Readonly<Record<string, readonly string[]>> = {
    int: ['int', 'double', 'uint'],
    uint: ['uint', 'double', 'int'],
    double: ['double', 'int', 'uint'],
  };
  const pairs = numbers.flatMap((a) =>
    (others[a] ?? []).map((b) => `${word}_${ids[a]}${a === b ? '' : `_${ids[b]}`}(${a},${b})bool`),
  );
  return [same('bool'), ...pairs, ...['string', 'bytes', 'timestamp', 'duration'].map(same)].join(' ');
}

/** Functions of kube-scheduler's expressions that are not offered here (C95). */
export const missingFunctions: ReadonlySet<string> = new Set(
  (
    'duration timestamp getFullYear getMonth getDate getDayOfMonth getDayOfWeek getDayOfYear getHours getMinutes getSeconds ' +
    'getMilliseconds format format.named format.dns1123Label format.dns1123Subdomain format.dns1035Label format.qualifiedName ' +
    'format.dns1123LabelPrefix format.dns1123SubdomainPrefix format.dns1035LabelPrefix format.labelValue format.uri format.uuid ' +
    'format.byte format.date format.datetime validate url isURL getScheme getHost getHostname getPort getEscapedPath getQuery ' +
    'ip isIP ip.isCanonical family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast cidr isCIDR ' +
    'containsIP containsCIDR masked prefixLength path group serviceAccount resource subresource namespace name check allowed reason ' +
    'errored error fieldSelector labelSelector'
  ).split(' '),
);

export const quantityType = structType('kubernetes.Quantity');
const semverType = structType('kubernetes.Semver');

/** The functions of device selectors, each with its forms. */
export function celFunctions(): ReadonlyMap<string, readonly CelOverload[]> {
  const functions = new Map<string, CelOverload[]>();
  for (const line of [...declared.trim().split('\n'), ...forEachType]) {
    const [name = '', ...forms] = line.split(' ');
    functions.set(name, [...(functions.get(name) ?? []), ...forms.map(overloadOf)]);
  }
  return functions;
}

function overloadOf(form: string): CelOverload {
  const method = form.startsWith('.');
  const open = form.indexOf('(');
  const close = closingOf(form, open);
  const inner = form.slice(open + 1, close);
  return {
    id: form.slice(method ? 1 : 0, open),
    method,
    takes: partsOf(inner).map(typeOf),
    gives: typeOf(form.slice(close + 1)),
    free: [...new Set(form.slice(open).match(/\b[A-Z]\b/g) ?? [])],
  };
}

const named: Readonly<Record<string, CelType>> = {
  ...celTypes,
  quantity: quantityType,
  semver: semverType,
  duration: structType('google.protobuf.Duration'),
  timestamp: structType('google.protobuf.Timestamp'),
};

function typeOf(text: string): CelType {
  const open = text.indexOf('(');
  if (open < 0) return named[text] ?? parameterType(text);
  const [first = celTypes.dyn, second = celTypes.dyn] = partsOf(text.slice(open + 1, -1)).map(typeOf);
  switch (text.slice(0, open)) {
    case 'list':
      return listType(first);
    case 'map':
      return mapType(first, second);
    case 'optional':
      return optionalType(first);
    default:
      return typeType(first);
  }
}

function closingOf(text: string, open: number): number {
  let depth = 0;
  for (let i = open; i < text.length; i++) {
    if (text[i] === '(') depth++;
    if (text[i] === ')' && --depth === 0) return i;
  }
  return text.length;
}

function partsOf(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '(') depth++;
    else if (text[i] === ')') depth--;
    else if (text[i] === ',' && depth === 0) {
      parts.push(text.slice(start, i));
      start = i + 1;
    }
  }
  return text === '' ? [] : [...parts, text.slice(start)];
}
