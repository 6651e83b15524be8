import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  parse,
  type SelectionSetNode,
} from "graphql";

/** What one request may ask at most. */
export const LIMITS = {
  /** Words of a document; parsing ends there. */
  tokens: 4000,
  /** Fields inside fields. */
  depth: 10,
  /** Fields that get another name. */
  aliases: 30,
  /** Fields of the operation itself: each is a question to the database, or an action. */
  roots: 20,
  /** See `costOf`. */
  cost: 10_000,
} as const;

/** What a field costs by itself; every other field costs 1. */
const COSTS: Readonly<Record<string, number>> = {
  counts: 50,
  queueStats: 100,
  renderedEmail: 200,
  attempts: 5,
  recipients: 5,
  enqueueEmail: 100,
  retryEmail: 100,
  cancelEmail: 100,
  retryEmails: 2000,
  cancelEmails: 2000,
};

/** Lists: what is inside costs as much as many times. */
const LISTS: Readonly<Record<string, { readonly most: number; readonly usual: number }>> = {
  emails: { most: 100, usual: 25 },
  operatorActions: { most: 100, usual: 25 },
  attempts: { most: 5, usual: 5 },
  recipients: { most: 5, usual: 5 },
};

/**
 * Parses a document and holds it against the limits, before it is validated: validation itself can be made to take long.
 * The errors are for the client; none: it may go on.
 */
export function checkLimits(query: string): readonly GraphQLError[] {
  let document: DocumentNode;
  try {
    document = parse(query, { maxTokens: LIMITS.tokens, noLocation: true });
  } catch (error) {
    return [error instanceof GraphQLError ? error : new GraphQLError("The query cannot be parsed.")];
  }
  const fragments = new Map(
    document.definitions.flatMap((one) =>
      one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one]] : [],
    ),
  );
  const measure = createMeasure(fragments);
  const operations = document.definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION);
  return operations.flatMap((operation) => broken(operation, measure(operation.selectionSet)));
}

interface Measure {
  readonly depth: number;
  readonly aliases: number;
  readonly fields: number;
  readonly cost: number;
}

function broken(
  operation: OperationDefinitionNode,
  { depth, aliases, fields, cost }: Measure,
): GraphQLError[] {
  const found = { depth, aliases, roots: fields, cost };
  return Object.entries(found)
    .filter(([name, value]) => value > LIMITS[name as keyof typeof found])
    .map(([name]) => {
      const limit = LIMITS[name as keyof typeof found];
      return new GraphQLError(
        `The ${operation.operation} is too large: ${WORDS[name]} must be at most ${limit}.`,
        {
          extensions: { code: "TOO_LARGE", limit: name, most: limit },
        },
      );
    });
}

const WORDS: Readonly<Record<string, string>> = {
  depth: "fields inside fields",
  aliases: "fields under another name",
  roots: "fields of the operation itself",
  cost: "its cost (fields, times the length of the lists that they are in)",
};

/** Measures selections; each fragment once, however often it is spread, so that fragments of fragments cost no time. */
function createMeasure(fragments: ReadonlyMap<string, FragmentDefinitionNode>) {
  const known = new Map<string, Measure>();

  function ofSelections({ selections }: SelectionSetNode): Measure {
    let [depth, aliases, fields, cost] = [0, 0, 0, 0];
    for (const selection of selections) {
      const one =
        selection.kind === Kind.FIELD
          ? ofField(selection)
          : selection.kind === Kind.INLINE_FRAGMENT
            ? ofSelections(selection.selectionSet)
            : ofFragment(selection.name.value);
      depth = Math.max(depth, one.depth);
      aliases += one.aliases;
      fields += one.fields;
      cost += one.cost;
    }
    return { depth, aliases, fields, cost };
  }

  function ofField(field: FieldNode): Measure {
    const name = field.name.value;
    const inside = field.selectionSet ? ofSelections(field.selectionSet) : NOTHING;
    return {
      depth: inside.depth + 1,
      aliases: inside.aliases + (field.alias ? 1 : 0),
      fields: 1,
      cost: (COSTS[name] ?? 1) + inside.cost * lengthOf(field),
    };
  }

  function ofFragment(name: string): Measure {
    const before = known.get(name);
    if (before) return before;
    const fragment = fragments.get(name);
    // A fragment inside itself is told by validation; here it must come to an end.
    known.set(name, NOTHING);
    const measured = fragment ? ofSelections(fragment.selectionSet) : NOTHING;
    known.set(name, measured);
    return measured;
  }

  return ofSelections;
}

const NOTHING: Measure = { depth: 0, aliases: 0, fields: 0, cost: 0 };

/** Entries of a list at most. What a variable says is not known here. */
function lengthOf(field: FieldNode): number {
  const list = Object.hasOwn(LISTS, field.name.value) ? LISTS[field.name.value] : undefined;
  if (!list) return 1;
  const first = field.arguments?.find(({ name }) => name.value === "first")?.value;
  if (!first) return list.usual;
  return first.kind === Kind.INT ? Math.min(Math.max(Number(first.value), 1), list.most) : list.most;
}
